"""The mail daemon under stress: ``python -m benchmarks.mail_daemon --messages 20000``.

Many clients ask at a time, and the daemon is killed (-9) now and then. Each message must have one
answer, with what belongs to it, and what was answered to have been learned must be in the model.
Then hostile mail is sent, and the longest time and the most memory that a message took are printed;
and the time of one message through ``spamc``, beside bogofilter's, where these are installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz import mail as hostile
from tests.test_hostile_mail import HOSTILE

from naively.wings.mail.table import open_table

LEARNED = 10  # one of so many messages is learned, the others are filtered
RETRY = 0.02  # seconds after which a client that was not answered asks again
TIMES = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--kill-every", type=int, default=500, help="answers")
    parser.add_argument("--hostile", type=int, default=100, help="random messages of this kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        daemon = Daemon(Path(scratch))
        try:
            asyncio.run(stress(daemon, options.messages, options.clients, options.kill_every))
            asyncio.run(hostility(daemon, options.hostile))
            through_spamc(daemon)
        finally:
            daemon.kill()


class Daemon:
    """A daemon in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.socket, self.model, self.log = folder / "s", folder / "mail.naively", folder / "log"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = [Path(sys.executable).with_name("naively"), "mail", "serve", self.model]
        options = ["--socket", self.socket, "--allow-tell", "--log", self.log]
        self.process = subprocess.Popen([*command, *options])

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    async def ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            writer.write(request)
            writer.write_eof()
            return await reader.read()
        finally:
            writer.close()


def message(i: int) -> bytes:
    chance = random.Random(i)
    words = " ".join(f"w{chance.randrange(5000)}" for _ in range(100))
    return f"Subject: number{i}\nMessage-ID: <{i}@x>\n\nunique{i} {words}\n".encode()


def request(i: int) -> bytes:
    raw = message(i)
    head = f"Content-length: {len(raw)}\r\n\r\n".encode()
    if i % LEARNED:
        return b"PROCESS SPAMC/1.5\r\n" + head + raw
    label = b"spam" if i % (2 * LEARNED) else b"ham"
    return b"TELL SPAMC/1.5\r\nMessage-class: " + label + b"\r\nSet: local\r\n" + head + raw


def is_answer(i: int, answer: bytes) -> bool:
    if not answer.startswith(b"SPAMD/1.1 0 EX_OK\r\n"):
        return False
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end or b"Content-length: %d\r\n" % len(body) not in head + b"\r\n":
        return False
    if i % LEARNED and body.count(b"unique%d " % i) != 1:
        raise AssertionError(f"message {i} was answered by another")
    return True


async def stress(daemon: Daemon, n: int, clients: int, kill_every: int) -> None:
    """Ask for all messages, kill the daemon now and then, and see that nothing was lost."""
    answers: Counter[int] = Counter()
    waiting = iter(range(n))
    tries = kills = 0
    begin = time.perf_counter()

    async def client() -> None:
        nonlocal tries
        for i in waiting:
            while True:
                tries += 1
                try:
                    answer = await daemon.ask(request(i))
                except OSError:
                    answer = b""
                if is_answer(i, answer):
                    answers[i] += 1
                    break
                await asyncio.sleep(RETRY)

    async def killer() -> None:
        nonlocal kills
        while True:
            goal = (kills + 1) * kill_every
            while answers.total() < goal:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            known = [i for i in answers if not i % LEARNED]
            daemon.kill()
            kills += 1
            check_learned(daemon.model, known)
            daemon.start()

    kills_too = asyncio.create_task(killer())
    await asyncio.gather(*[client() for _ in range(clients)])
    if kills_too.done():
        kills_too.result()
    kills_too.cancel()
    seconds = time.perf_counter() - begin
    learned = [i for i in range(n) if not i % LEARNED]
    check_learned(daemon.model, learned)
    assert sorted(answers.elements()) == list(range(n)), "a message was lost, or answered twice"
    assert sum(open_table(str(daemon.model)).messages) == len(learned), "one was learned twice"
    print(
        f"{n:,} messages of {clients} clients, {kills} kills, {tries:,} tries: each answered once, "
        f"{len(learned):,} learned, none lost; {seconds:.0f} s"
    )


def check_learned(path: Path, known: list[int]) -> None:
    if known:
        table = open_table(str(path))
        lost = [i for i in known if sum(table[f"unique{i}"]) != 1]
        assert not lost, f"learned, answered, and lost: {lost}"


async def hostility(daemon: Daemon, n: int) -> None:
    """Send hostile mail, one message after the other, and print what the worst of it took."""
    mails = {f"random {seed}": hostile.message(random.Random(seed)) for seed in range(n)}
    mails |= HOSTILE
    slowest, largest = (0.0, ""), (0, "")
    await waited_for(daemon)
    for name, raw in mails.items():
        before = memory(daemon, peak=False)
        begin = time.perf_counter()
        answer = await daemon.ask(
            b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(raw) + raw
        )
        slowest = max(slowest, (time.perf_counter() - begin, name))
        largest = max(largest, (memory(daemon, peak=True) - before, name))
        assert answer.startswith(b"SPAMD/1."), name
    print(
        f"{len(mails)} hostile messages, each answered or refused; the slowest ({slowest[1]}) in "
        f"{slowest[0]:.2f} s, the largest ({largest[1]}) with {largest[0] / 1024:.0f} MiB"
    )


async def waited_for(daemon: Daemon) -> None:
    while True:
        try:
            await daemon.ask(b"PING SPAMC/1.5\r\n\r\n")
        except OSError:
            await asyncio.sleep(RETRY)
        else:
            return


def memory(daemon: Daemon, *, peak: bool) -> int:
    """Return how many KiB the daemon holds, or has held at most since this was last asked for."""
    assert daemon.process is not None
    folder = Path("/proc", str(daemon.process.pid))
    if not folder.exists():
        return 0
    if not peak:
        (folder / "clear_refs").write_text("5")  # the peak is what is held now
    lines = dict(line.split(":") for line in (folder / "status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0])


def through_spamc(daemon: Daemon) -> None:
    """Print the time of one message through the client, beside that of bogofilter."""
    spamc, bogofilter = shutil.which("spamc"), shutil.which("bogofilter")
    if spamc is None or bogofilter is None:
        print("spamc or bogofilter is not installed: one message is not timed")
        return
    database = daemon.model.parent / "bogofilter"
    database.mkdir()
    raw = message(1)
    for label, option in (("spam", "-s"), ("ham", "-n")):
        subprocess.run([bogofilter, "-d", database, option], input=label.encode(), check=False)
    commands = {
        "spamc": [spamc, "-U", daemon.socket],
        "bogofilter -p": [bogofilter, "-d", database, "-p"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TIMES):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, input=raw, capture_output=True, check=False)
            seconds[name].append(time.perf_counter() - begin)
    ours, theirs = (statistics.median(each) for each in seconds.values())
    print(
        f"one message: spamc {1e3 * ours:.1f} ms, bogofilter -p {1e3 * theirs:.1f} ms, "
        f"{ours / theirs:.2f} times"
    )


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
