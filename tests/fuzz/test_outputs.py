"""Hostile outputs: whatever stands at a path, all of the content comes to be there, or nothing."""

from __future__ import annotations

import os
import random
import stat
import tempfile
from pathlib import Path

import pytest

from naively import saving
from tests.fuzz import fuzz

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files as POSIX has them")
NAMES = ["a", "b", "c", "-"]
ODD = ["é", "\x1b[31m", "[/]", "a b", "n" * 250, "n" * 256, "..", ".", ""]


def test_an_output_is_whole_or_refused_and_nothing_else_changes() -> None:
    def check(chance: random.Random) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            _furnish(chance, root)
            path = _path(chance, root)
            before = _seen(root)
            inputs = [_path(chance, root) for _ in range(chance.randrange(3))]
            content = chance.randbytes(chance.choice([0, 1, 10_000]))
            target = Path(os.path.realpath(path))
            was = target.stat() if os.access(target, os.F_OK) else None
            read = {name: one for name, one in before.items() if _is_read(root / name, inputs)}
            refused = _write(path, inputs, content)
            after = _seen(root)
            if refused is not None:
                assert refused.startswith((f"Cannot write {path}: ", f"Writing {path} would"))
                assert after == before
                return
            assert {name: after[name] for name in read} == read  # no input has changed
            own = os.path.relpath(target, root)
            assert after.pop(own)[1] == content
            before.pop(own, None)
            assert after == before
            if was is not None:
                assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(was.st_mode)

    fuzz(check, 300)


def _write(path: str, inputs: list[str], content: bytes) -> str | None:
    """Write as a verb does, and return what is said if that is refused."""
    try:
        saving.check_output(path, inputs)
        with saving.locked(path, 0.1):
            saving.save(path, content)
    except (OSError, ValueError) as error:
        return str(error)
    return None


def _furnish(chance: random.Random, root: Path) -> None:
    """Fill a folder with files, folders and links, soft and hard, to each other and to nothing."""
    for _ in range(chance.randrange(12)):
        path, other = (Path(_path(chance, root)) for _ in range(2))
        kind = chance.choice(["file", "file", "folder", "link", "hard", "socket"])
        try:
            if kind == "file" and not os.path.lexists(path):
                path.write_bytes(b"old")
                path.chmod(chance.choice([0o600, 0o640, 0o644, 0o755]))
            elif kind == "folder":
                path.mkdir()
            elif kind == "link":
                path.symlink_to(other)
            elif kind == "hard":
                os.link(other, path)
            else:
                os.mknod(path, stat.S_IFSOCK | 0o600)
        except OSError:
            pass


def _path(chance: random.Random, root: Path) -> str:
    names = chance.choices(NAMES if chance.random() < 0.9 else ODD, k=chance.choice([1, 1, 1, 2]))
    path = os.path.normpath(root.joinpath(*names))
    inside = path if path.startswith(str(root)) else str(root)
    return inside + ("/" if chance.random() < 0.05 else "")


def _seen(root: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return all that is in a folder: kinds and modes, and contents; but for locks."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            content: bytes | str = b""
            if stat.S_ISLNK(mode):
                content = str(path.readlink())
            elif stat.S_ISREG(mode):
                content = path.read_bytes()
            if not (name.endswith(".lock") and content == b""):
                found[os.path.relpath(path, root)] = mode, content
    return found


def _is_read(path: Path, inputs: list[str]) -> bool:
    """Whether this is one of the inputs, or below one."""
    real = os.path.realpath(path)
    return any(
        real == (one := os.path.realpath(name)) or real.startswith(one + os.sep)
        for name in inputs
        if os.access(name, os.F_OK)
    )
