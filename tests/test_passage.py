"""The filter never loses mail and never lies: closed and full streams, errors of any kind."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from naively.wings.mail import passage
from naively.wings.mail.headers import mark
from naively.wings.mail.learn import learn
from naively.wings.mail.limits import BYTES
from naively.wings.mail.message import read_message
from naively.wings.mail.passage import CHUNK, ERROR, TRY_AGAIN, pass_on, say

MESSAGE = b"From: x@shop.example\nSubject: Cheap pills\n\nBuy cheap pills now!\n"
MARK = b"X-Naively-Class: "
posix = pytest.mark.skipif(os.name != "posix", reason="redirections as POSIX has them")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.naively"
    learn(
        str(path),
        [(read_message(MESSAGE), "spam"), (read_message(b"Subject: Lunch\n\nat noon"), "ham")],
    )
    return path


def shell(
    rest: str, *options: str | Path, message: bytes = MESSAGE
) -> subprocess.CompletedProcess[bytes]:
    """Run the filter as a shell does, with redirections."""
    command = [sys.executable, "-m", "naively", "mail", "filter", *map(str, options)]
    line = ["sh", "-c", f'"$@" {rest}', "sh", *command]
    return subprocess.run(line, input=message, capture_output=True, check=False, timeout=60)


@posix
@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "2>/dev/null"])
def test_whatever_standard_error_is_the_message_is_written(model: Path, closed: str) -> None:
    assert MARK in shell(closed, model).stdout
    missing = model.with_name("none")
    for options, status in (([missing], 0), ([missing, "--exit-code"], ERROR), (["--what"], ERROR)):
        done = shell(closed, *options)
        assert (done.returncode, done.stdout) == (status, MESSAGE)


@posix
@pytest.mark.parametrize("rest", [">&-", ">/dev/full", "<&-", ">&- 2>&-", ">&- 2>&- <&-"])
def test_what_cannot_be_read_or_written_is_tried_again(model: Path, rest: str) -> None:
    if "full" in rest and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    for options in ([model], [model, "--exit-code"], [model.with_name("none")], ["--what"]):
        done = shell(rest, *options)
        assert (done.returncode, done.stdout) == (TRY_AGAIN, b"")
        if "2>" not in rest:
            assert done.stderr.startswith(b"naively: ")
            assert b"Traceback" not in done.stderr


@posix
def test_a_reader_that_goes_away_has_the_message_tried_again(model: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "naively", "mail", "filter", "--exit-code", str(model)],
            input=MESSAGE, stdout=out, stderr=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == TRY_AGAIN


@posix
def test_without_memory_the_message_is_written(model: Path) -> None:
    # The process may not grow by more than 24 MB after it has started; the message takes more.
    code = (
        "import resource, sys\nfrom naively.wings.mail.command import run\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + (24 << 20),) * 2)\n"
        f"sys.exit(run(['filter', '--exit-code', {str(model)!r}]))"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("there is no /proc")
    message = MESSAGE + b"word " * (4 << 20)
    done = subprocess.run(
        [sys.executable, "-c", code], input=message, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout == message) == (ERROR, True)
    assert done.stderr == b"naively: There is not enough memory for this.\n"


class Streams:
    """Standard streams in memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, message: bytes) -> None:
        self.source, self.target = io.BytesIO(message), io.BytesIO()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=self.source))
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=self.target))


class Odd(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, MemoryError, RecursionError, Odd, SystemExit])
@pytest.mark.parametrize("size", [0, 100, BYTES + 3 * CHUNK + 5])
def test_any_error_leaves_the_message_as_it_was(
    error: type[BaseException], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = bytes(range(256)) * (size // 256 + 1)
    streams = Streams(monkeypatch, message[:size])

    def change(_: bytes, __: bool) -> tuple[bytes, int]:
        raise error

    assert pass_on(change) == ERROR
    assert streams.target.getvalue() == message[:size]


def test_memory_that_ends_while_reading_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    message = b"word " * CHUNK
    streams = Streams(monkeypatch, message)

    def hold(source, held):
        held.append(source.read(1000))
        raise MemoryError

    monkeypatch.setattr(passage, "_hold", hold)
    assert pass_on(lambda *_: (b"changed", 0)) == ERROR
    assert streams.target.getvalue() == message


@pytest.mark.parametrize("size", [BYTES - 1, BYTES, BYTES + 1, 2 * BYTES])
def test_a_large_message_is_changed_at_its_beginning_and_passed_on(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = (MESSAGE + b"0123456789" * (2 * BYTES // 10))[:size]
    streams = Streams(monkeypatch, message)
    told = []

    def change(beginning, whole):
        told.append((len(beginning), whole))
        return b"new" + beginning, 0

    assert pass_on(change) == 0
    assert streams.target.getvalue() == b"new" + message
    assert told == [(min(size, BYTES), size < BYTES)]


def test_a_message_larger_than_what_is_held_is_marked(model: Path) -> None:
    message = MESSAGE + b"0123456789\n" * (3 * BYTES // 11)
    done = shell("", model, message=message)
    assert (done.returncode, done.stderr) == (0, b"")
    head, body = done.stdout.split(b"\n\n", 1)
    assert MARK in head
    assert b"X-Naively-Note: only the beginning read,\n read to line" in head
    assert MESSAGE + body.removeprefix(b"Buy cheap pills now!\n") == message


def test_headers_that_do_not_end_are_ended_where_nobody_looks_further() -> None:
    head = b"Subject: x\n" * 3
    ours = {"X-Naively-Class": "spam"}
    assert mark(head, ours, whole=False) == head + b"X-Naively-Class: spam\n\n"
    assert mark(head + b"\nbody", ours, whole=False) == mark(head + b"\nbody", ours)


def test_what_is_said_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    say(KeyError())
    say(RecursionError("maximum recursion depth exceeded"))
    say(OSError("disk"), "It cannot be read")
    assert capsys.readouterr().err == (
        "naively: KeyError\nnaively: This is nested too deep.\nnaively: It cannot be read: disk\n"
    )


def test_an_option_that_is_wrong_is_one_sentence(model: Path) -> None:
    for options, said in (
        (["--unsure", "0.9", "0.1"], b"the lower probability comes first"),
        (["--costs", "0", "1"], b"0 is no cost"),
        (["--no-such-option"], b"unrecognized arguments"),
    ):
        done = shell("", model, *options)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (ERROR, MESSAGE, 1)
        assert said in done.stderr
