"""Sockets that a daemon listens on: in the file system, on a port, or those of systemd."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BACKLOG = 1024  # connections that wait to be accepted
LONGEST = 107  # bytes of the name of a socket
FIRST_INHERITED = 3  # the file descriptor of the first socket that systemd passes


@contextmanager
def listening(path: str | None, host: str, port: int | None) -> Iterator[list[socket.socket]]:
    """Listen until the context is left; the socket that was made is then removed."""
    sockets = _inherited() if path is None and port is None else []
    if path is not None:
        sockets.append(_on_path(path))
    if port is not None:
        sockets += _on_port(host, port)
    if not sockets:
        raise ValueError("Say where to listen: --socket PATH or --port N.")
    for each in sockets:
        each.setblocking(False)  # noqa: FBT003
    made = os.stat(path) if path is not None else None  # noqa: PTH116
    try:
        yield sockets
    finally:
        for each in sockets:
            each.close()
        with suppress(OSError):
            if path is not None and made is not None and os.path.samestat(made, os.stat(path)):  # noqa: PTH116
                os.unlink(path)  # noqa: PTH108


def shown(listening: socket.socket) -> str:
    """Return where a socket listens, in words."""
    name = listening.getsockname()
    return f"{name[0]} port {name[1]}" if isinstance(name, tuple) else str(name)


def _on_path(path: str) -> socket.socket:
    """Listen on a socket in the file system; one that nobody listens on is replaced."""
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"The name of the socket {path} is too long.")
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise ValueError(f"{path} is there, and is no socket: name another.")
        with socket.socket(socket.AF_UNIX) as other:
            try:
                other.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # noqa: PTH108
            else:
                raise ValueError(f"Another process listens on {path}.")
    made = socket.socket(socket.AF_UNIX)
    try:
        made.bind(path)
    except OSError as error:
        raise OSError(f"Cannot listen on {path}: {error.strerror}.") from error
    made.listen(BACKLOG)
    return made


def _on_port(host: str, port: int) -> list[socket.socket]:
    """Listen on all addresses of a host that this machine has."""
    made: list[socket.socket] = []
    failed = None
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            made.append(socket.create_server(address[:2], family=family, backlog=BACKLOG))
        except OSError as error:
            failed = OSError(f"Cannot listen on {address[0]}, port {port}: {error.strerror}.")
    if failed is not None and not made:
        raise failed
    return made


def _inherited() -> list[socket.socket]:
    """Return the sockets that systemd listens on for this process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(os.environ.get("LISTEN_FDS", "0"))
    return [socket.socket(fileno=FIRST_INHERITED + i) for i in range(count)]
