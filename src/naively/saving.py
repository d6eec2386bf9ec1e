"""Files are written whole or not at all, by one process at a time, and never over an input.

A regular file is written under another name in its folder and then renamed, so that whenever the
machine stops, the old file is there or the new one. A FIFO, a device or standard output is written
to directly. Nothing here imports NumPy, as the mail filter saves too.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import Any, BinaryIO

STANDARD_INPUT = "-"
NOTICE = 2.0  # seconds to wait for a lock before it is said


def save(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write a file; on any failure, or an interrupt, an existing file stays as it was."""
    # Symbolic links are followed, and an existing file keeps its mode.
    with writing(path, private=private) as out:
        out.write(content)


@contextmanager
def writing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file to be written in parts; what is at the path changes when the context is left."""
    # If it is left by an error or an interrupt, an existing file stays as it was, and there is no
    # new one. A FIFO, a device or standard output takes the content as it comes.
    with ExitStack() as stack:
        with _naming(path):
            there = _writable(path)
            if there is not None and _is_standard_output(there):
                sys.stdout.flush()
                opened = _streaming(os.dup(1), path)
            elif there is None or stat.S_ISREG(there.st_mode):
                opened = _replacing(path, there, 0o600 if private else 0o666)
            else:
                opened = _streaming(os.open(path, os.O_WRONLY), path)
            out = stack.enter_context(opened)
        yield out


def copying(path: Path, what: str) -> BinaryIO:
    """Open a file in a folder for a while, to be written; an error names what it is for."""
    return io.BufferedWriter(_File(path, f"{what} in {path.parent}", mode="wb"))


def check_output(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise an error if a result cannot be written to a path, before the work for it is done."""
    with _naming(path):
        there = _writable(path)
    if there is None or stat.S_ISCHR(there.st_mode):
        return
    for name in inputs:
        if any(os.path.samestat(there, of) for of in _statuses(os.fspath(name))):
            what = "standard input" if name == STANDARD_INPUT else name
            raise ValueError(
                f"Writing {path} would destroy what is read from {what}: "
                "name another file to write."
            )


def locked(
    path: str | os.PathLike[str],
    patience: float | None = None,
    waiting: Callable[[], object] = lambda: None,
) -> AbstractContextManager[object]:
    """Lock a file that is read, changed and written, until the context that is returned is left."""
    # The lock is on an empty file beside it, which stays there, as the file itself is replaced. The
    # lock is free again when its holder ends, for whatever reason. A stream needs none.
    from filelock import FileLock, Timeout

    try:
        there = _status(path)
        if there is not None and (_is_standard_output(there) or not stat.S_ISREG(there.st_mode)):
            return nullcontext()
        file = _target(path)
        lock = FileLock(file.with_name(f".{file.name}.lock"))
        try:
            return lock.acquire(timeout=NOTICE)
        except Timeout:
            waiting()
            return lock.acquire(timeout=-1 if patience is None else patience - NOTICE)
    except Timeout as error:
        raise TimeoutError(f"Another process is still changing {path}: try again later.") from error
    except OSError as error:
        raise _named(error, path) from error


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Whether what is written to a path comes out of this process's standard output."""
    try:
        return _is_standard_output(_status(path))
    except OSError:
        return False


def _writable(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of what is at a path, if anything, or raise why it cannot be written."""
    there = _status(path)
    if there is None:
        _target(path)
    elif stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, "It is a folder")
    elif not any(kind(there.st_mode) for kind in (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISCHR)):
        raise OSError(errno.EINVAL, "It is neither a file nor a stream")
    return there


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of what is at a path, links followed, or None if nothing is there."""
    try:
        return os.stat(path)  # noqa: PTH116  (a Path cannot hold every name)
    except FileNotFoundError:
        return None


def _statuses(name: str) -> Iterator[os.stat_result]:
    """Yield the status of a file, or of a folder and all files below it; of nothing, none."""
    with suppress(OSError):
        yield os.fstat(0) if name == STANDARD_INPUT else os.stat(name)  # noqa: PTH116
    for folder, _, files in os.walk(name):
        for file in files:
            with suppress(OSError):  # a link to nothing
                yield os.stat(os.path.join(folder, file))  # noqa: PTH116, PTH118


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, links followed; its folder must exist."""
    if not os.path.basename(path):  # noqa: PTH119  (a Path forgets a slash at the end)
        raise IsADirectoryError(errno.EISDIR, "It names no file")
    from pathlib import Path

    file = Path(os.path.realpath(path))
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"There is no folder {file.parent}")
    return file


def _is_standard_output(there: os.stat_result | None) -> bool:
    try:
        return there is not None and os.path.samestat(there, os.fstat(1))
    except OSError:  # it is closed
        return False


class _File(io.FileIO):
    """A file or stream whose errors name the path that the user gave."""

    def __init__(self, file: int | Path, path: str | os.PathLike[str], **how: Any) -> None:
        super().__init__(file, **how)
        self._path = path

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise _named(error, self._path) from error


@contextmanager
def _streaming(descriptor: int, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    with io.BufferedWriter(_File(descriptor, path, mode="wb")) as out:
        if out.isatty():
            raise OSError(errno.EINVAL, "It is a terminal: name a file")
        yield out


@contextmanager
def _replacing(
    path: str | os.PathLike[str], there: os.stat_result | None, mode: int
) -> Iterator[BinaryIO]:
    """Write a file under a temporary name, and rename it, so that no reader sees half of it."""
    file = _target(path)
    if there is not None and not os.access(file, os.W_OK):  # renaming would not ask
        raise PermissionError(errno.EACCES, "It is read-only")
    temporary = file.with_name(f".naively-{os.urandom(8).hex()}")  # short even for a long name

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, mode if there is None else 0o600)

    out = None
    try:
        out = io.BufferedWriter(_File(temporary, path, mode="xb", opener=create))
        yield out
        out.flush()
        with _naming(path):
            if there is not None:
                if sys.platform != "win32":
                    with suppress(PermissionError):  # this user may not give it to the owner
                        os.chown(temporary, there.st_uid, there.st_gid)
                temporary.chmod(stat.S_IMODE(there.st_mode))
            os.fsync(out.fileno())
            out.close()
            temporary.replace(file)
    except BaseException:  # Ctrl-C too
        if out is not None:
            with suppress(OSError):  # what is left to write finds no room either
                out.close()
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error that the block raises name the path."""
    try:
        yield
    except OSError as error:
        raise _named(error, path) from error


def _named(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """Return the error with a message that names the path."""
    # The command line ends in silence by a broken pipe, but not by that of a file to write.
    is_other = isinstance(error, BrokenPipeError) and not is_standard_output(path)
    kind = OSError if is_other else type(error)
    return kind(f"Cannot write {os.fspath(path)}: {error.strerror or error}.")
