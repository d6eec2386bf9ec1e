"""What is written to a path: whole, to what it leads to, with its mode, and never over an input."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from naively import NaiveBayes, saving

POSIX = pytest.mark.skipif(os.name != "posix", reason="files as POSIX has them")
NEW = b"new" * 1000


@pytest.fixture
def there(tmp_path: Path) -> Path:
    path = tmp_path / "there"
    path.write_bytes(b"old")
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def code(source: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", f"from naively import saving\n{source}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
@POSIX
def test_an_existing_file_keeps_its_mode(there: Path, mode: int) -> None:
    there.chmod(mode)
    saving.save(there, NEW)
    assert (there.read_bytes(), stat.S_IMODE(there.stat().st_mode)) == (NEW, mode)


@pytest.mark.parametrize(
    ("private", "mask", "mode"), [(False, 0o022, 0o644), (False, 0o077, 0o600), (True, 0, 0o600)]
)
@POSIX
def test_a_new_file_has_the_mode_that_the_user_wants(
    tmp_path: Path, private: bool, mask: int, mode: int
) -> None:
    path = tmp_path / "new"
    before = os.umask(mask)
    try:
        saving.save(path, NEW, private=private)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@POSIX
def test_links_are_followed_and_stay(tmp_path: Path, there: Path) -> None:
    (tmp_path / "folder").mkdir()
    for target in (there, tmp_path / "folder" / "made"):
        link, further = tmp_path / f"to-{target.name}", tmp_path / f"further-{target.name}"
        link.symlink_to(target)
        further.symlink_to(link.name)
        saving.save(further, NEW)
        assert link.is_symlink()
        assert further.is_symlink()
        assert not target.is_symlink()
        assert target.read_bytes() == NEW
    assert names(tmp_path / "folder") == {"made"}


@POSIX
def test_a_fifo_takes_the_content_and_stays(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()), daemon=True)
    reader.start()
    saving.save(fifo, NEW)
    reader.join(60)
    assert got == [NEW]
    assert fifo.is_fifo()
    assert names(tmp_path) == {"fifo"}


@POSIX
def test_a_reader_that_goes_away_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    source = (
        "import os, sys, threading\n"
        "def look():\n    os.close(os.open(sys.argv[1], os.O_RDONLY))\n"
        "threading.Thread(target=look, daemon=True).start()\n"
        "try: saving.save(sys.argv[1], bytes(1 << 24))\n"
        "except OSError as error: print(type(error).__name__, error)"
    )
    said = code(source, tmp_path / "fifo").stdout.decode()
    assert re.fullmatch(r"OSError Cannot write .*fifo: Broken pipe\.\n", said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_devices_take_the_content_and_stay() -> None:
    null = Path("/dev/null")
    before = null.stat()
    saving.save(null, NEW)
    assert os.path.samestat(before, null.stat())
    assert null.is_char_device()
    with pytest.raises(OSError, match=r"^Cannot write /dev/full: No space left on device\.$"):
        saving.save("/dev/full", NEW)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_standard_output_is_written_to_wherever_it_leads(tmp_path: Path) -> None:
    source = "print('before')\nsaving.save('/dev/stdout', b'content\\n')\nprint('after')"
    lines = b"before\ncontent\nafter\n"
    assert code(source).stdout == lines
    out = tmp_path / "out"
    with out.open("wb") as file:
        command = [sys.executable, "-c", f"from naively import saving\n{source}"]
        subprocess.run(command, stdout=file, check=True, timeout=60)
    assert out.read_bytes() == lines
    assert names(tmp_path) == {"out"}


@POSIX
def test_where_standard_output_is_closed_nothing_is(there: Path) -> None:
    source = (
        "import os, sys\n"
        "os.close(1)\n"
        "assert not saving.is_standard_output(sys.argv[1])\n"
        "assert not saving.is_standard_output(sys.argv[1] + '/below')\n"
        "saving.save(sys.argv[1], b'new')\n"
        "os._exit(0)"
    )
    done = code(source, there)
    assert (done.returncode, there.read_bytes()) == (0, b"new"), done.stderr


@POSIX
def test_a_terminal_takes_no_model() -> None:
    import pty

    leader, terminal = pty.openpty()
    try:
        with pytest.raises(OSError, match="It is a terminal: name a file"):
            saving.save(os.ttyname(terminal), NEW)
    finally:
        os.close(leader)
        os.close(terminal)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere/file", "There is no folder .*nowhere"),
        ("there/file", "Not a directory|There is no folder"),
        ("folder", "It is a folder"),
        ("new/", "It names no file"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
@POSIX
def test_what_cannot_be_written_is_one_sentence(
    tmp_path: Path, there: Path, name: str, why: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    path = f"{tmp_path}/{name}"
    with pytest.raises(OSError, match=rf"^Cannot write {re.escape(path)}: ({why})\.$"):
        saving.save(path, NEW)
    assert there.read_bytes() == b"old"
    assert names(tmp_path) == before


@POSIX
def test_a_socket_is_no_output(tmp_path: Path) -> None:
    import socket

    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        with pytest.raises(OSError, match=r"^Cannot write .*: It is neither a file nor a stream"):
            saving.save(path, NEW)


@POSIX
def test_a_file_that_is_read_only_is_not_replaced(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write whatever its mode
    with pytest.raises(PermissionError, match=r"there: It is read-only\.$"):
        saving.save(there, NEW)
    assert there.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_what_stopped_half_way(
    there: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def stop(*_: object) -> None:
        raise error

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[step], stop)
    for path in (there, there.parent / "new"):
        with pytest.raises(type(error)) as raised:
            saving.save(path, NEW)
        if isinstance(error, OSError):
            assert str(raised.value) == f"Cannot write {path}: No space left on device."
    assert there.read_bytes() == b"old"
    assert names(there.parent) == {"there"}


@POSIX
def test_a_disk_without_room_is_said_and_the_old_file_stays(there: Path) -> None:
    source = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "try: saving.save(sys.argv[1], bytes(1 << 20))\n"
        "except OSError as error: print(error)"
    )
    assert code(source, there).stdout.decode() == f"Cannot write {there}: File too large.\n"
    assert there.read_bytes() == b"old"
    assert names(there.parent) == {"there"}


def test_a_name_may_be_as_long_as_the_folder_allows(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    saving.save(path, NEW)
    assert path.read_bytes() == NEW


REFUSED = r"^Writing \S+ would destroy what is read from \S+: name another file to write\.$"


@POSIX
def test_an_input_by_any_name_is_no_output(
    tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    text = folder / "deep" / "text"
    text.write_text("words")
    (folder / "lost").symlink_to("nothing")
    link, hard = tmp_path / "link", tmp_path / "hard"
    link.symlink_to(there)
    os.link(there, hard)
    monkeypatch.chdir(folder)
    for one in (there, link, hard, "../there"):
        for other in (there, link, hard, "../there"):
            with pytest.raises(ValueError, match=REFUSED):
                saving.check_output(one, ["no such file", text, other])
        saving.check_output(one, [text, folder, "no such file"])
    with pytest.raises(ValueError, match=REFUSED):
        saving.check_output(text, [folder])
    saving.check_output(tmp_path / "new", [there, folder])
    saving.check_output("/dev/null", ["/dev/null"])
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        saving.check_output(tmp_path / "nowhere" / "new", [there])
    with pytest.raises(IsADirectoryError, match="It is a folder"):
        saving.check_output(folder, [there])
    with pytest.raises(OSError, match=r"Cannot write .*: Not a directory\."):
        saving.check_output(there / "below", [there])


def test_a_file_that_standard_input_comes_from_is_no_output(there: Path) -> None:
    source = "import sys\nsaving.check_output(sys.argv[1], ['-'])"
    command = [sys.executable, "-c", f"from naively import saving\n{source}", str(there)]
    with there.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=False, timeout=60)
    assert b"would destroy what is read from standard input: name another file" in done.stderr


@pytest.mark.slow
def test_a_lock_is_held_by_one_and_free_after_it(there: Path) -> None:
    source = (
        "import sys\n"
        "try:\n"
        "    with saving.locked(sys.argv[1], 2.1, lambda: print('waiting')): print('held')\n"
        "except TimeoutError as error: print(error)"
    )
    with saving.locked(there):
        said = code(source, there).stdout.decode()
    assert said == f"waiting\nAnother process is still changing {there}: try again later.\n"
    assert code(source, there).stdout == b"held\n"


@POSIX
def test_the_lock_is_that_of_the_file_a_link_leads_to(tmp_path: Path, there: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to(there)
    with saving.locked(link):
        pass
    assert names(tmp_path) == {"there", "folder", ".there.lock"}
    with saving.locked("/dev/null"):
        assert not Path("/dev/.null.lock").exists()
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        saving.locked(tmp_path / "nowhere" / "file")
    assert "nowhere" not in names(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("verb", [["predict", "m", "rows.csv"], ["show", "m"]])
def test_standard_output_that_is_full_is_named(verb: list[str], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,a\n2,b\n" * 50)
    NaiveBayes(weights=None).fit({"x": [1, 2] * 9}, ["a", "b"] * 9).save(tmp_path / "m")
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "naively", *verb],
            stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False,
        )  # fmt: skip
    said = run.stderr.decode().splitlines()[-1]
    assert said == "naively: Cannot write standard output: No space left on device."
    assert run.returncode == 2


def test_a_copy_that_finds_no_room_is_named(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of a process are those of Unix")
    run = subprocess.run(
        [sys.executable, "-m", "naively", "train", "-", "-t", "y", "-o", "m"],
        input=("x,y\n" + "1,a\n2,b\n" * 400_000).encode(),
        capture_output=True, cwd=tmp_path, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_500_000,) * 2),
    )  # fmt: skip
    said = run.stderr.decode()
    assert re.fullmatch(
        r"naively: Cannot write a copy of standard input in .*: File too large\.\n", said
    )
    assert not [*tmp_path.iterdir()]
