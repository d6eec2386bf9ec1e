"""What is written to a path: whole or not at all, by one process at a time, never over an input.

A regular file is written under another name in its folder and renamed, so that it is there as it
was or as it is to be, whenever the machine stops. What is no file (a FIFO, a device, standard
output) is written to. Nothing here imports NumPy, as the mail filter saves too.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STANDARD_INPUT = "-"
NOTICE = 2.0  # seconds to wait for a lock before it is said


def save(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write a file; on any failure, or when this is interrupted, an existing one stays as it was.

    Symbolic links are followed, and an existing file keeps its mode.

    Parameters
    ----------
    path : str or Path
        A file, which may exist, or a FIFO, a device or standard output, which takes the content.
    content : bytes
        All of it.
    private : bool
        Whether a new file can be read by its owner only.

    Raises
    ------
    OSError
        If it cannot be written; the message names the path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "file")
    ...     save(path, b"old")
    ...     save(path, b"new")
    ...     path.read_bytes(), len(list(path.parent.iterdir()))
    (b'new', 1)
    """
    try:
        _save(path, content, 0o600 if private else 0o666)
    except OSError as error:
        raise _named(error, path) from error


def check_output(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise what is wrong with a path before the work is done whose result is to be written there.

    Parameters
    ----------
    path : str or Path
        What is to be written.
    inputs : iterable of str or Path
        What is read: files, folders with all that is in them, or "-", standard input.

    Raises
    ------
    ValueError
        If what is to be written is read too, whatever it is called.
    OSError
        If there is no such folder, or the path is one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "file")
    ...     path.touch()
    ...     check_output(path, ["elsewhere"])
    ...     check_output(path, [folder])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Writing .../file would destroy what is read from ...: name another file to write.
    """
    try:
        there = _writable(path)
    except OSError as error:
        raise _named(error, path) from error
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
    """Take the lock of a file that is read, changed and written, or replaced; the context frees it.

    The lock is on a file beside it, as the file itself is replaced; that stays there, empty. It is
    free again whenever its holder ends, however. What is no file needs none.

    Parameters
    ----------
    path : str or Path
        The file, which may not exist yet.
    patience : float, optional
        How many seconds to wait for another process at most.
    waiting : callable
        Called where there is one, and this will wait.

    Raises
    ------
    TimeoutError
        If another process has held the lock for so long.
    OSError
        If there can be no lock; the message names the path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "count")
    ...     with locked(path):
    ...         save(path, b"1")
    """
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


def _save(path: str | os.PathLike[str], content: bytes, mode: int) -> None:
    there = _writable(path)
    if there is None:
        _replace(_target(path), content, None, mode)
    elif _is_standard_output(there):
        sys.stdout.flush()
        _stream(os.dup(1), content)
    elif stat.S_ISREG(there.st_mode):
        _replace(_target(path), content, there, mode)
    else:
        _stream(os.open(path, os.O_WRONLY), content)


def _writable(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return what is there, if anything, or raise why nothing can be written to it."""
    there = _status(path)
    if there is None:
        _target(path)
    elif stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, "It is a folder")
    elif not any(kind(there.st_mode) for kind in (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISCHR)):
        raise OSError(errno.EINVAL, "It is neither a file nor a stream")
    return there


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return what is there, links followed, or None if nothing is."""
    try:
        return os.stat(path)  # noqa: PTH116  (as what is no path of a file has no other way)
    except FileNotFoundError:
        return None


def _statuses(name: str) -> Iterator[os.stat_result]:
    """Iterate over what is read from a name: it, and all that is below it; nothing if it is not."""
    with suppress(OSError):
        yield os.fstat(0) if name == STANDARD_INPUT else os.stat(name)  # noqa: PTH116
    for folder, _, files in os.walk(name):
        for file in files:
            with suppress(OSError):  # a link to nothing
                yield os.stat(os.path.join(folder, file))  # noqa: PTH116, PTH118


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, by whatever links; its folder must be there."""
    if not os.path.basename(path):  # noqa: PTH119  (a Path forgets a slash at the end)
        raise IsADirectoryError(errno.EISDIR, "It names no file")
    file = Path(os.path.realpath(path))
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"There is no folder {file.parent}")
    return file


def _is_standard_output(there: os.stat_result | None) -> bool:
    try:
        return there is not None and os.path.samestat(there, os.fstat(1))
    except OSError:  # it is closed
        return False


def _stream(descriptor: int, content: bytes) -> None:
    with open(descriptor, "wb") as out:
        if out.isatty():
            raise OSError(errno.EINVAL, "It is a terminal: name a file")
        out.write(content)


def _replace(file: Path, content: bytes, there: os.stat_result | None, mode: int) -> None:
    """Write a file beside another and give it its name, which no reader sees half done."""
    if there is not None and not os.access(file, os.W_OK):  # renaming would not ask
        raise PermissionError(errno.EACCES, "It is read-only")
    temporary = file.with_name(f".naively-{os.urandom(8).hex()}")  # as short for any name

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, mode if there is None else 0o600)

    try:
        with open(temporary, "xb", opener=create) as out:
            out.write(content)
            out.flush()
            if there is not None:
                _keep_owner(temporary, there)
                temporary.chmod(stat.S_IMODE(there.st_mode))
            os.fsync(out.fileno())
        temporary.replace(file)
    except BaseException:  # Ctrl-C too
        temporary.unlink(missing_ok=True)
        raise


def _keep_owner(temporary: Path, there: os.stat_result) -> None:
    """Give a file to the owner of the one that it replaces, as far as this user may."""
    if sys.platform != "win32":
        with suppress(PermissionError):
            os.chown(temporary, there.st_uid, there.st_gid)


def _named(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """Return the error with a message that names the path."""
    kind = OSError if isinstance(error, BrokenPipeError) else type(error)  # it is no quiet end
    return kind(f"Cannot write {os.fspath(path)}: {error.strerror or error}.")
