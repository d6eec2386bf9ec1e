"""Many messages are filtered at once, by as many processes as there are processors.

The model is read once. Each process takes every n-th message, and the results come in the order of
the messages.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from functools import partial
from itertools import chain, cycle, islice

from naively.wings.mail.mailbox import find_messages
from naively.wings.mail.passage import say
from naively.wings.mail.score import judge
from naively.wings.mail.verdict import TOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from naively.wings.mail.mailbox import Found
    from naively.wings.mail.score import WordWeights
    from naively.wings.mail.verdict import Division

GARBAGE = 100_000  # objects that are made before garbage is looked for; parsers leave cycles


def said_of(
    found: Found,
    weights: WordWeights,
    division: Division,
    contacts: Collection[str] | None,
    *,
    explain: bool,
) -> str:
    """Return what is said of a message, even if it cannot be read, as a line of JSON."""
    said: dict[str, object] = {"path": str(found.path)}
    if found.number is not None:
        said["number"] = found.number
    notes: dict[str, None] = {}
    try:
        verdict, row = judge(found.read(), weights, contacts, notes)
    except (ValueError, OSError, MemoryError) as error:
        said["error"] = str(error) or type(error).__name__
    else:
        said["message_id"] = " ".join(str(row["message_id"]).split())
        said["class"] = division(verdict.probability, row)
        said["probability"] = verdict.probability
        listed = division.listed(row)
        if listed is not None:
            said["list"] = listed[1]
        if explain:
            said["evidence"] = dict(verdict.contributions[:TOP])
        if notes:
            said["notes"] = list(notes)
    return json.dumps(said) + "\n"


def filter_all(say_of: Callable[[Found], str], paths: Sequence[Path], jobs: int) -> Iterator[str]:
    """Yield what is said of each message below some paths, by several processes."""

    def share(i: int) -> Iterator[str]:
        if i:  # the first process warns of what is passed over
            warnings.simplefilter("ignore")
        found = chain.from_iterable(map(find_messages, paths))
        return map(say_of, islice(found, i, None, jobs))

    gc.enable()
    gc.set_threshold(GARBAGE)
    if jobs == 1 or not hasattr(os, "fork"):
        jobs = 1
        yield from share(0)
        return
    yield from _merged([_process(partial(share, i)) for i in range(jobs)])


def _process(lines: Callable[[], Iterator[str]]) -> tuple[int, int]:
    """Start a process that writes lines to a pipe; return its number and the pipe's other end."""
    receive, send = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process:
        os.close(send)
        return process, receive
    status = 1
    try:
        os.close(receive)
        with open(send, "w", encoding="ascii") as out:  # noqa: PTH123
            out.writelines(lines())
        status = 0
    except (ValueError, OSError, KeyboardInterrupt) as error:
        if not isinstance(error, BrokenPipeError | KeyboardInterrupt):
            say(error)
    except BaseException:  # noqa: BLE001  a mistake of ours
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _merged(processes: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield the lines of processes in turn, until the one whose turn it is has ended."""
    pipes = [open(receive, encoding="ascii") for _, receive in processes]  # noqa: PTH123, SIM115
    try:
        for pipe in cycle(pipes):
            line = pipe.readline()
            if not line.endswith("\n"):
                break
            yield line
    finally:
        for pipe in pipes:
            pipe.close()
        ended = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process, _ in processes]
    if any(ended):
        raise ChildProcessError("A process that filters has ended before its messages.")
