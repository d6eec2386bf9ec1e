"""What breaks or is interrupted in the middle of a long table leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_cli import ok, sentence
from tests.test_cli_predict import model_of

MANY = 300_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """A model, and a table of many rows, in CSV."""
    folder = tmp_path_factory.mktemp("long")
    rows = "".join(f"{i % 97},{'abc'[i % 3]}\n" for i in range(MANY + 10_000))
    path = folder / "long.csv"
    path.write_text("size,colour\n" + rows)
    return model_of(["a", "b", "c"], folder), path, rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "jsonl.gz", "parquet"])
def test_a_file_that_is_broken_in_the_middle_leaves_no_output(
    long: tuple[Path, Path, str], tmp_path: Path, name: str
) -> None:
    model, _, rows = long
    lines = rows.splitlines(keepends=True)
    lines[MANY] = "1,red,and more\n"
    broken, out = tmp_path / "broken.csv", tmp_path / f"out.{name}"
    broken.write_text("size,colour\n" + "".join(lines))
    assert f"Line {MANY + 2} of" in sentence("predict", model, broken, "-o", out)
    assert not out.exists()
    out.write_text("old")
    assert f"Line {MANY + 2} of" in sentence("predict", model, broken, "-o", out)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.csv", out.name]


@pytest.mark.slow
def test_rows_that_are_read_again_are_written_once(
    long: tuple[Path, Path, str], tmp_path: Path
) -> None:
    model, path, rows = long
    clean, again = tmp_path / "clean.csv", tmp_path / "again.csv"
    lines = rows.splitlines(keepends=True)
    lines[MANY] = "1,caf\ufffd\n"
    clean.write_text("size,colour\n" + "".join(lines), encoding="utf-8")
    again.write_bytes(clean.read_bytes().replace("caf\ufffd".encode(), b"caf\xe9"))
    expected = ok("predict", model, clean)
    assert expected.count("\n") == path.read_text().count("\n")
    assert ok("predict", model, again) == expected
    ok("predict", model, again, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == expected


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("verb", ["csv", "parquet", "standard output", "train"])
def test_an_interrupt_leaves_nothing_half_written(
    long: tuple[Path, Path, str], tmp_path: Path, verb: str
) -> None:
    """The first batch comes and no other does, so that it is in the middle of its work."""
    model, path, _ = long
    out, scratch = tmp_path / "out" / f"out.{verb}", tmp_path / "scratch"
    out.parent.mkdir()
    scratch.mkdir()
    out.write_text("old")
    command = ["predict", model, path, *(["-o", out] if verb != "standard output" else [])]
    if verb == "train":
        command = ["train", path, "-t", "colour", "-o", out]
    slow = (
        "import sys, time\n"
        "from naively.data.stream import Stream\n"
        "whole = Stream._every_batch\n"
        "def slowly(self):\n"
        "    for batch in whole(self):\n"
        "        yield batch\n"
        "        print('begun', file=sys.stderr, flush=True)\n"
        "        while True: time.sleep(0.01)\n"
        "Stream._every_batch = slowly\n"
        "sys.argv[0] = 'naively'\n"
        "from naively.__main__ import main\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", slow, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")
    assert out.read_text() == "old"
    assert list(out.parent.iterdir()) == [out]
    assert not list(scratch.iterdir())
