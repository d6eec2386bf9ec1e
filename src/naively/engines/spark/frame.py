"""What a frame of Spark holds, and what Spark says when it fails."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from naively.data.columns import Kind, refuse_twice, unusable
from naively.kernels import dispatch

LONGEST = 300  # characters of a message of Spark's
KINDS: Mapping[str, Kind | None] = {  # by the names that Spark has for types
    **dict.fromkeys(("byte", "short", "integer", "long", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("interval day to second", "daytimeinterval", "time"), "number"),
    **dict.fromkeys(("string", "char", "varchar"), "string"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), "time"),
    "boolean": "boolean",
    "array": "text",
    "void": None,
}
RAISED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): +(.+)$", re.MULTILINE)
JAVA = re.compile(r"^: (?:\w+\.)*\w+: (.+)$", re.MULTILINE)
LAST_OF_JAVA = re.compile(r"^.*most recent failure: .*?\): (?:\w+\.)*\w+: ")


def kinds_of(frame: Any, names: Sequence[str]) -> dict[str, Kind | None]:
    """Return what columns of a frame hold, by their types; no row is read.

    Raises
    ------
    ValueError
        If nothing can be learned from a column of such a type, or if two columns have one name.
    """
    refuse_twice(frame.columns)
    wanted = set(names)
    kinds: dict[str, Kind | None] = {}
    for field in frame.schema.fields:
        if field.name not in wanted:
            continue
        if (name := field.dataType.typeName()) not in KINDS:
            raise unusable(field.name, f"{name} values")
        kinds[field.name] = KINDS[name]
    return kinds


def numbered(frame: Any) -> Any:
    """Return a frame whose columns are numbered, as Spark hands none over that has a dot in it."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def one_core() -> None:
    """Count on one thread in a worker, unless its environment says another number.

    A task of Spark has one core, as it has by default; the others are other tasks'.
    """
    if "NAIVELY_THREADS" not in os.environ:
        dispatch.set_threads(1)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Raise a ValueError of one sentence where Spark fails, without the traces of its workers."""
    from pyspark.errors import PySparkException

    failures: tuple[type[Exception], ...] = (PySparkException,)
    if "py4j.protocol" in sys.modules:  # which a client of a remote Spark does without
        failures += (sys.modules["py4j.protocol"].Py4JJavaError,)
    try:
        yield
    except failures as error:
        raise ValueError(f"Spark failed: {sentence(str(error))}") from None


def sentence(message: str) -> str:
    r"""Return what a message of Spark says: the error that was raised, without traces.

    Examples
    --------
    >>> sentence('In a worker:\nTraceback:\n  File "f.py", line 1\nValueError: no such unit')
    'no such unit'
    >>> sentence("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL ==")
    '[DIVIDE_BY_ZERO] Division by zero.'
    """
    raised = RAISED.findall(message) if "Traceback" in message else JAVA.findall(message)
    line = raised[-1] if raised else message.strip().split("\n", 1)[0]
    line = LAST_OF_JAVA.sub("", line).partition(" SQLSTATE:")[0].strip()
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
