"""The daemon answers clients of spamd, the real one too, and loses nothing that it has answered."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from naively.wings.mail.learn import learn, tell
from naively.wings.mail.limits import BYTES
from naively.wings.mail.message import read_message
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import MailTable, open_table
from tests.fuzz import mail as hostile

SPAM = b"From: x@shop.example\nSubject: Cheap pills\nMessage-ID: <1@x>\n\nBuy cheap pills now!\n"
HAM = b"Subject: Lunch\nX-Spam-Status: forged\n\nat noon\n"
MESSAGES = [(SPAM, "spam"), (HAM, "ham")]
SPAMC = shutil.which("spamc")
real = pytest.mark.skipif(SPAMC is None, reason="spamc is not installed")
pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")
Ask = Callable[..., bytes]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.naively"
    learn(str(path), [(read_message(raw), label) for raw, label in MESSAGES])
    return path


class Running:
    """A daemon in a process of its own."""

    def __init__(self, *options: str | Path, path: Path) -> None:
        self.path = path
        command = [sys.executable, "-m", "naively", "mail", "serve", *map(str, options)]
        self.process = subprocess.Popen(
            [*command, "--socket", str(path)], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.first = "" if "--log" in options else self.process.stderr.readline()

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        try:
            connection.connect(str(self.path))
        except OSError:
            connection.close()
            raise
        return connection

    def accepts(self) -> bool:
        try:
            self.connect().close()
        except OSError:
            return False
        return True

    def send(self, request: bytes, *, end: bool = True) -> bytes:
        """Return the answer to a request."""
        with self.connect() as connection:
            with suppress(BrokenPipeError):  # it was refused before all of it was read
                connection.sendall(request)
                if end:
                    connection.shutdown(socket.SHUT_WR)
            answer = b""
            with suppress(ConnectionResetError):
                while part := connection.recv(1 << 16):
                    answer += part
            return answer

    def ask(self, verb: str, message: bytes = SPAM, *headers: str) -> bytes:
        lines = [f"{verb} SPAMC/1.5", *headers, f"Content-length: {len(message)}", "", ""]
        return self.send("\r\n".join(lines).encode() + message)

    def tell(self, label: str, message: bytes, *headers: str) -> bytes:
        return self.ask("TELL", message, f"Message-class: {label}", "Set: local", *headers)

    def stop(self, number: int = signal.SIGTERM) -> str:
        """Return what else was logged."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=60)
        return log


@contextmanager
def serving(*options: str | Path) -> Iterator[Running]:
    path = Path(str(options[0])).parent / "s"
    running = Running(*options, path=path)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate(timeout=60)


def spamc(running: Running, *options: str, message: bytes = SPAM) -> tuple[int, bytes]:
    done = subprocess.run(
        [str(SPAMC), "-U", running.path, "-l", *options],
        input=message, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stderr == b""
    return done.returncode, done.stdout


@real
def test_the_real_client_is_answered(model: Path) -> None:
    with serving(model) as running:
        score = Verdict(open_table(str(model)), words_of(read_message(SPAM))).log_odds
        assert spamc(running, "-K") == (0, b"SPAMD/1.5 0\n")
        assert spamc(running, "-c") == (1, f"{score:.1f}/0.0\n".encode())
        assert spamc(running, "-y") == (0, b"NAIVELY_SPAM")
        for option in ("-R", "-r"):
            status, report = spamc(running, option)
            assert status == 0
            assert report.startswith(f"{score:.1f}/0.0\nspam, p".encode())
        assert spamc(running, "-r", message=HAM) == (0, b"")
        status, marked = spamc(running, "-E")
        assert status == 1
        for line in (b"X-Naively-Class: spam", b"X-Spam-Flag: YES", b"X-Spam-Status: Yes, score="):
            assert marked.count(line) == 1
        assert marked.endswith(SPAM[SPAM.index(b"\n\n") :])
        assert spamc(running, "--headers") == (0, marked)
        ham = spamc(running, message=HAM)[1]
        assert b"X-Spam-Flag" not in ham
        assert b"forged" not in ham
        assert spamc(running, "-L", "spam")[0] != 0  # learning is not allowed
        assert running.stop().count("error: EX_UNAVAILABLE Learning is not allowed") == 1
        assert running.process.returncode == 0
    assert not running.path.exists()


@real
def test_the_header_of_the_class_may_have_another_name(model: Path) -> None:
    with serving(model, "--header", "X-Junk", "--texts", "Yes", "No", "Unsure") as running:
        marked = spamc(running, message=b"X-Junk: No\n" + SPAM)[1]
    assert (marked.count(b"X-Junk:"), b"X-Junk: Yes\n" in marked) == (1, True)
    assert b"X-Naively-Class" not in marked


@real
def test_the_real_client_lets_messages_be_learned_and_forgotten(tmp_path: Path) -> None:
    model = tmp_path / "new.naively"
    with serving(model, "--allow-tell") as running:
        did, again = b"Message successfully un/learned\n", b"Message was already un/learned\n"
        wishes = ["spam", "spam", "ham", "forget", "forget"]
        said = [spamc(running, "-L", wish)[1] for wish in wishes]
        assert said == [did, again, did, did, again]
        assert spamc(running, "-L", "spam", message=b"\n")[1] == again  # there are no words in it
        assert open_table(str(model)).messages == (0, 0)
        for raw, label in MESSAGES:
            assert spamc(running, "-L", label, message=raw)[1] == did
        assert spamc(running, "-c")[0] == 1


def test_what_breaks_is_answered_and_logged(model: Path) -> None:
    requests = {
        b"GET / HTTP/1.1\r\n\r\n": b"SPAMD/1.0 76 EX_PROTOCOL",
        b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\nshort": b"SPAMD/1.0 76 EX_PROTOCOL",
        b"CHECK SPAMC/1.5\r\n" + b"a: b\r\n" * 9000: b"SPAMD/1.0 76 EX_PROTOCOL",
        b"CHECK SPAMC/1.5\r\n" + b"a" * (1 << 20): b"SPAMD/1.0 76 EX_PROTOCOL",
        b"CHECK SPAMC/1.5\r\nContent-length: 99999999\r\n\r\n": b"SPAMD/1.0 65 EX_DATAERR",
        b"CHECK SPAMC/1.5\r\n\r\n" + b"a" * (BYTES + 1): b"SPAMD/1.0 65 EX_DATAERR",
        b"PING SPAMC/1.2\r\n": b"SPAMD/1.5 0 PONG\r\n",
        b"SKIP SPAMC/1.5\r\n\r\n": b"",
        b"": b"",
        b"CHECK SPAMC/1.0\r\n" + SPAM: b"SPAMD/1.1 0 EX_OK\r\nSpam: True",
        b"CHECK SPAMC/1.2\n\n" + SPAM: b"SPAMD/1.1 0 EX_OK\r\nSpam: True",
    }
    with serving(model) as running:
        for request, answer in requests.items():
            said = running.send(request)
            assert said.startswith(answer), request[:40]
            assert bool(said) == bool(answer)
        model.write_bytes(b"no model")
        assert running.ask("CHECK").startswith(b"SPAMD/1.0 69 EX_UNAVAILABLE")
        model.unlink()
        assert running.ask("CHECK").startswith(b"SPAMD/1.0 67 EX_NOUSER")
        log = running.stop().splitlines()
        assert sum("error: EX_" in line for line in log) == 8
        assert sum(" CHECK user=none size=" in line and " spam " in line for line in log) == 2
        assert running.process.returncode == 0


def test_any_mail_is_answered(model: Path) -> None:
    with serving(model, "--allow-tell") as running:
        for seed in range(60):
            raw = hostile.message(random.Random(seed))
            answer = running.ask("PROCESS", raw)
            head, _, marked = answer.partition(b"\r\n\r\n")
            assert head.startswith(b"SPAMD/1.1 0 EX_OK\r\nContent-length: %d\r\n" % len(marked))
            assert b"X-Spam-Status: " in marked
            assert running.tell("spam", raw).startswith(b"SPAMD/1.1 0 EX_OK\r\n")
        assert "error" not in running.stop()


def test_a_changed_model_is_read_again(model: Path) -> None:
    with serving(model) as running:
        assert b"Spam: True" in running.ask("CHECK")
        MailTable_ = MailTable.empty(remembers=True)
        other = model.with_name("other")
        other.write_bytes(MailTable_.to_bytes())
        other.replace(model)
        assert b"Spam: False ; -0.1 / 0.0" in running.ask("CHECK")


def test_a_model_that_is_replaced_with_its_time_and_size_is_read_again(model: Path) -> None:
    other = model.with_name("other")
    learn(str(other), [(read_message(SPAM), "ham"), (read_message(HAM), "spam")])
    with serving(model) as running:
        assert b"Spam: True" in running.ask("CHECK")
        before = model.stat()
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert other.stat().st_size == before.st_size
        other.replace(model)
        assert b"Spam: False" in running.ask("CHECK")


def test_each_user_has_a_model_and_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.naively"
    learn(str(secret), [(read_message(raw), label) for raw, label in MESSAGES])
    (tmp_path / "models").mkdir()
    shutil.copy(secret, tmp_path / "models" / "ann@example.org.naively")
    with serving(tmp_path / "models", "--allow-tell") as running:
        assert b"Spam: True" in running.ask("CHECK", SPAM, "User: ann@example.org")
        for name in ("../secret", "secret", "", ".", "..", "a/b", "/etc/passwd", "ann\0", "-", "é"):
            assert running.ask("CHECK", SPAM, f"User: {name}").startswith(b"SPAMD/1.0 67 EX_NOUSER")
        assert running.ask("CHECK").startswith(b"SPAMD/1.0 67 EX_NOUSER")
        assert running.tell("spam", SPAM, "User: ../bob").startswith(b"SPAMD/1.0 67 EX_NOUSER")
        assert b"DidSet: local" in running.tell("spam", SPAM, "User: bob")
    assert open_table(str(tmp_path / "models" / "bob.naively")).messages == (0, 1)
    assert sorted(tmp_path.glob("*.naively")) == [secret]


def test_the_end_waits_for_who_was_accepted(model: Path) -> None:
    with serving(model) as running:
        request = b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(SPAM) + SPAM
        with running.connect() as early:
            early.sendall(request[:50])
            running.ask("PING")  # it was accepted by now
            running.process.send_signal(signal.SIGTERM)
            wait_for(lambda: not running.accepts())
            early.sendall(request[50:])
            assert b"Spam: True" in early.recv(1 << 16)
        assert running.process.wait(60) == 0


def test_clients_beyond_the_limit_wait(model: Path) -> None:
    with serving(model, "--clients", "1", "--workers", "1") as running:
        with running.connect() as first:
            first.sendall(b"CHECK SPAMC/1.5\r\n")
            waiting = ThreadPoolExecutor(1).submit(running.ask, "CHECK")
            first.sendall(b"Content-length: 1\r\n\r\nx")
            assert first.recv(1 << 16).startswith(b"SPAMD/1.1 0 EX_OK")
        assert b"Spam: True" in waiting.result(60)


def test_the_log_can_be_moved_away(model: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(model, "--log", log) as running:
        wait_for(running.accepts)
        running.ask("CHECK", SPAM.replace(b"<1@x>", b"<\x1b[31m\xe9>"))
        log.rename(tmp_path / "log.1")
        running.process.send_signal(signal.SIGHUP)
        wait_for(log.exists)
        running.ask("CHECK", HAM)
        running.stop()
        first, second = ((tmp_path / name).read_text() for name in ("log.1", "log"))
        said = r"CHECK user=none size=\d+ spam \S+/0\.0 id=<\\x1b\[31mé> 0\.\d+s\n"
        assert re.search(said, first)
        assert "ham" in second
        assert second.count("\n") == 2


def wait_for(happened: Callable[[], Any]) -> None:
    for _ in range(6000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen in a minute")


def test_a_socket_is_not_taken_from_another(model: Path, tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "naively", "mail", "serve", model]
    with serving(model) as running:
        for options, why in {
            ("--socket", running.path): "Another process listens",
            ("--socket", model): "is no socket",
            ("--socket", tmp_path / "no" / "s"): "Cannot listen on",
            ("--socket", "x" * 200): "too long",
            (): "Say where to listen",
            ("--port", "99999"): "no port",
        }.items():
            done = subprocess.run([*serve, *options], capture_output=True, text=True, check=False)
            assert done.returncode == 3
            assert why in done.stderr
        running.process.kill()
    assert running.path.exists()  # nobody listens on it any more
    with serving(model) as running:
        assert b"PONG" in running.ask("PING")


def test_a_port_is_of_this_machine_only(model: Path) -> None:
    with serving(model, "--port", "0", "--host", "127.0.0.1") as running:
        assert running.process.stderr is not None
        lines = running.first + running.process.stderr.readline()
        port = int(re.findall(r"127\.0\.0\.1 port (\d+)", lines)[0])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"PING SPAMC/1.5\r\n\r\n")
            assert connection.recv(100) == b"SPAMD/1.5 0 PONG\r\n"


def test_sockets_may_come_from_systemd(model: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        code = (
            "import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True)\n"
            "os.environ |= {'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1'}\n"
            "serve = [sys.executable, '-m', 'naively', 'mail', 'serve', sys.argv[2]]\n"
            "os.execv(sys.executable, serve)"
        )
        number = listening.fileno()
        running = subprocess.Popen(
            [sys.executable, "-c", code, str(number), str(model)],
            pass_fds=[number], stderr=subprocess.DEVNULL,
        )  # fmt: skip
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(tmp_path / "s"))
        connection.sendall(b"PING SPAMC/1.5\r\n\r\n")
        assert connection.recv(100) == b"SPAMD/1.5 0 PONG\r\n"
    running.terminate()
    assert running.wait(60) == 0


def test_nothing_that_was_answered_is_lost_when_the_daemon_is_killed(tmp_path: Path) -> None:
    model = tmp_path / "mail.naively"
    messages = [b"Subject: word%d\n\nabout thing%d\n" % (i, i) for i in range(60)]
    current = [Running(model, "--allow-tell", path=tmp_path / "s")]
    answered: list[int] = []
    lock = threading.Lock()

    def learn_one(i: int) -> None:
        while True:
            answer = b""
            with suppress(OSError):
                answer = current[0].tell("ham" if i % 2 else "spam", messages[i])
            if answer.startswith(b"SPAMD/1.1 0 EX_OK"):
                with lock:
                    answered.append(i)
                return
            time.sleep(0.01)

    with ThreadPoolExecutor(10) as clients:
        done = [clients.submit(learn_one, i) for i in range(len(messages))]
        for goal in (15, 35):
            wait_for(lambda goal=goal: len(answered) >= goal)
            with lock:
                known = set(answered)
            current[0].process.kill()
            current[0].process.communicate()
            table = open_table(str(model))
            assert all(any(table[f"thing{i}"]) for i in known)
            current[0] = Running(model, "--allow-tell", path=tmp_path / "s")
        for each in done:
            each.result(60)
    current[0].stop()
    table = open_table(str(model))
    assert table.messages == (30, 30)  # each once, though some were told twice
    assert all(sum(table[f"thing{i}"]) == 1 for i in range(len(messages)))


# --- What is told is learned as `learn` does -----------------------------------------------------


def test_wishes_are_done_in_their_order(tmp_path: Path) -> None:
    spam, ham = read_message(SPAM), read_message(HAM)
    path = str(tmp_path / "m")
    wishes = [(spam, "spam"), (spam, "ham"), (spam, None), (spam, None), (ham, "ham"), (ham, "ham")]
    assert tell(path, wishes) == [True, True, True, False, True, False]
    learn(str(tmp_path / "n"), [(ham, "ham")])
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_what_is_told_at_once_is_as_if_learned_one_by_one(tmp_path: Path) -> None:
    chance = random.Random(3)
    texts = [f"w{i} v{i % 3}" for i in range(8)]
    wishes = [
        (read_message(f"Subject: a\n\n{chance.choice(texts)}".encode()), label)
        for label in chance.choices(["spam", "ham", None], k=60)
    ]
    single = [tell(str(tmp_path / "single"), [wish])[0] for wish in wishes]
    assert tell(str(tmp_path / "once"), wishes) == single
    once, alone = (open_table(str(tmp_path / name)) for name in ("once", "single"))
    assert once.messages == alone.messages
    assert dict(once.items()) == dict(alone.items())
    assert once.known().keys() == alone.known().keys()


def test_a_model_that_does_not_remember_forgets_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m"
    learn(str(path), [(read_message(SPAM), "spam")], remember=False)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="does not remember"):
        tell(str(path), [(read_message(HAM), "ham"), (read_message(SPAM), None)])
    assert path.read_bytes() == before
