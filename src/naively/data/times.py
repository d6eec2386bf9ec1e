"""Strings that are times become times, and times have parts: hour, weekday, month.

A part is worth a column of its own only if its cycle repeats in the data; until then the time
itself tells as much.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.names import Name, title
from naively.data.columns import TIME, Cells, Kind, as_floats
from naively.data.rows import ColumnRows, Rows
from naively.kernels import dispatch
from naively.kernels.strings import Strings

Cycle: TypeAlias = Literal["hour", "weekday", "month"]
# A part tells more than the time itself if the times of a column span so many seconds: two cycles.
CYCLES: dict[Cycle, int] = {"hour": 2 * 86_400, "weekday": 14 * 86_400, "month": 731 * 86_400}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
EPOCH = np.datetime64(0, "us")
NAMES: dict[Cycle, tuple[str, ...]] = {
    "weekday": WEEKDAYS,
    "month": MONTHS,
    "hour": tuple(f"{hour:02}" for hour in range(24)),
}
TIME_KIND: Kind = "time"
FIRST = 100  # strings that are looked at before a whole column is


def part_of(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[Any]:
    """Return the name of the hour, weekday or month of each time; None where the time is missing.

    Times and names are of shape (rows,).

    Examples
    --------
    >>> part_of(np.array(["2026-11-21T10:30", "NaT"], TIME), "weekday")
    array(['Saturday', None], dtype=object)
    """
    names = np.array([*NAMES[part], None], object)  # the last, at -1, is of missing times
    named: NDArray[Any] = names[part_codes(as_floats(moments), part)]
    return named


def times_of(seconds: NDArray[np.floating]) -> NDArray[np.datetime64]:
    """Return seconds since 1970 as times, to the nearest microsecond; both of shape (rows,)."""
    times: NDArray[np.datetime64] = np.rint(seconds * 1e6).astype("timedelta64[us]") + EPOCH
    return times


def part_codes(seconds: NDArray[np.floating], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; -1 where the time is missing.

    Times are seconds since 1970, NaN where missing; both arrays are of shape (rows,).
    """
    there = ~np.isnan(seconds)
    codes = np.full(len(seconds), -1)
    codes[there] = _codes(times_of(seconds[there]), part)
    return codes


def are_times(cells: Cells) -> bool:
    """Whether each string of a column is a time of ISO 8601, or missing.

    Examples
    --------
    >>> from naively.kernels.dispatch import pack_strings
    >>> are_times(pack_strings(["2026-11-21", None, "2026/11/21 10:30"]))
    True
    """
    if not isinstance(cells, Strings):
        return False
    return all(dispatch.read_times(some)[1] < 0 for some in (cells[:FIRST], cells))


def read_times(rows: Rows, names: Collection[Name]) -> Rows:
    """Return rows in which the strings of some columns are read as times.

    Raises
    ------
    ValueError
        If a string is no time; it names the column and the row.
    """
    # Strings that are all missing are of no kind.
    there = [name for name in names if name in rows.place]
    spelled = [name for name in there if isinstance(rows.cells(name), Strings)]
    if not spelled:
        return rows
    cells = {name: rows.cells(name) for name in rows.names}
    cells |= {name: _as_times(name, cells[name]) for name in spelled}
    kinds = {name: rows.kind(name) for name in rows.names} | dict.fromkeys(spelled, TIME_KIND)
    return ColumnRows(cells, kinds, len(rows), rows.times_told)


def _as_times(name: Name, cells: Cells) -> NDArray[np.datetime64]:
    """Return strings of shape (rows,) as times, or raise a ValueError if one is none."""
    if not isinstance(cells, Strings):
        raise TypeError(f"column {name!r} does not hold strings")
    moments, wrong = dispatch.read_times(cells)
    if wrong >= 0:
        raise ValueError(
            f"Column {title(name)!r} held times in training and holds {cells[wrong]!r} in row "
            f"{wrong} now; write it as 2026-11-21 or 2026-11-21T10:30:00, or leave it empty."
        )
    return moments.view(TIME)


def _codes(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; both arrays are of shape (rows,)."""
    if part == "month":
        return moments.astype("datetime64[M]").astype(np.int64) % 12
    if part == "weekday":
        return (
            moments.astype("datetime64[D]").astype(np.int64) + 3
        ) % 7  # 1970 began on a Thursday
    return moments.astype("datetime64[h]").astype(np.int64) % 24
