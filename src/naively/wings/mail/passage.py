"""A message passes from standard input to standard output, whatever goes wrong on its way.

The exit statuses are those of bogofilter (0 spam, 1 ham, 2 unsure, 3 an error, which leaves the
message unchanged), and one of sysexits.h: 75 asks the mail agent to keep the message and to try
again, as it could not be read or written.
"""

from __future__ import annotations

import sys

from naively import messages
from naively.wings.mail.limits import BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

ERROR = 3
TRY_AGAIN = 75  # EX_TEMPFAIL
CHUNK = 1 << 16


def pass_on(change: Callable[[bytes, bool], tuple[bytes, int]], failed: int = ERROR) -> int:
    """Copy standard input to standard output, with its beginning changed, if that can be done."""
    held: list[bytes] = []
    try:
        source = sys.stdin.buffer  # closed, it is None
        size = _hold(source, held)
    except MemoryError as error:  # what is held can still be passed on, and the rest copied
        say(error)
        size = None
    except BaseException as error:  # noqa: BLE001  nothing was written: nothing is lost
        say(error, "The message could not be read")
        return TRY_AGAIN
    status = failed
    if size is not None:
        try:
            out, status = change(b"".join(held), size < BYTES)
            held = [out]
        except BaseException as error:  # noqa: BLE001  no mail may be lost to an error
            say(error)
    try:
        target = sys.stdout.buffer
        for piece in held:
            target.write(piece)
        while piece := source.read(CHUNK):
            target.write(piece)
        target.flush()
    except BaseException as error:  # noqa: BLE001
        say(error, "The message could not be written")
        return TRY_AGAIN
    return status


SAID: dict[type, str] = {
    MemoryError: "There is not enough memory for this.",
    RecursionError: "This is nested too deep.",
}


def say(error: object, what: str = "") -> None:
    """Say on standard error what went wrong, or is to be noted, if it can be written to."""
    text = SAID.get(type(error)) or str(error) or type(error).__name__
    try:
        messages.say(f"{what}: {text}" if what else text)
        sys.stderr.flush()
    except Exception:  # noqa: BLE001, S110  standard error is closed, or full
        pass


def _hold(source: BinaryIO, held: list[bytes]) -> int:
    """Read the beginning of a message into a list, and return how many bytes it has."""
    size = 0
    while size < BYTES and (piece := source.read(min(CHUNK, BYTES - size))):
        held.append(piece)
        size += len(piece)
    return size
