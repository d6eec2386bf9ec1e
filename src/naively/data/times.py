"""Strings that are times become times, and times have parts: hour, weekday, month.

A part is worth a column of its own only if its cycle repeats in the data; until then the time
itself tells as much.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.names import Name, title
from naively.data.columns import TIME, Kind, as_floats, as_times
from naively.data.rows import Rows

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
# A time of ISO 8601 has year, month and day; it may have a time of day, and an offset from UTC.
ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
)


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


def parse_times(cells: NDArray[Any]) -> NDArray[np.datetime64] | None:
    """Read strings as ISO 8601 times, in UTC if they have an offset; None if any is no such time.

    Examples
    --------
    >>> parse_times(np.array(["2026-11-21", "2026-11-21T10:30+02:00"], object))
    array(['2026-11-21T00:00:00.000000', '2026-11-21T08:30:00.000000'],
          dtype='datetime64[us]')
    """
    read = []
    for cell in cells.tolist():
        if cell is not None and not ISO.fullmatch(cell):
            return None
        try:
            read.append(None if cell is None else dt.datetime.fromisoformat(cell))
        except ValueError:
            return None
    return as_times(read)


@dataclass(frozen=True, eq=False)
class TimedRows(Rows):
    """Rows of which some columns are times, though they may have come as strings."""

    rows: Rows
    times: frozenset[Name]
    _read: dict[Name, NDArray[np.datetime64]] = field(default_factory=dict)

    @property
    def names(self) -> range | tuple[Name, ...]:  # type: ignore[override]  # read-only, as every dataclass here
        return self.rows.names

    def __len__(self) -> int:
        return len(self.rows)

    def kind(self, name: Name) -> Kind | None:
        return "time" if name in self.times else self.rows.kind(name)

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        if self.times.isdisjoint(names):
            return self.rows.numbers(names)
        return np.stack([as_floats(self.values(name)) for name in names], axis=1)

    def values(self, name: Name) -> NDArray[Any]:
        if name not in self.times:
            return self.rows.values(name)
        if name not in self._read:
            self._read[name] = _as_times(name, self.rows.values(name))
        return self._read[name]

    def take(self, index: Any) -> TimedRows:
        return replace(self, rows=self.rows.take(index), _read={})


def _as_times(name: Name, column: NDArray[Any]) -> NDArray[np.datetime64]:
    """Return a column of shape (rows,) as times, or raise a ValueError if a cell is not one."""
    if column.dtype.kind == "M":
        return column
    if column.dtype.kind != "O":  # a column of floats that is missing throughout
        return np.full(len(column), np.datetime64("NaT", "us"), TIME)
    moments = parse_times(column)
    if moments is None:
        row = next(i for i in range(len(column)) if parse_times(column[i : i + 1]) is None)
        raise ValueError(
            f"Column {title(name)!r} held times in training and holds {column[row]!r} in row {row} "
            "now; write it as 2026-11-21 or 2026-11-21T10:30:00, or leave it empty."
        )
    return moments


def _codes(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; both arrays are of shape (rows,)."""
    if part == "month":
        return moments.astype("datetime64[M]").astype(np.int64) % 12
    if part == "weekday":
        return (
            moments.astype("datetime64[D]").astype(np.int64) + 3
        ) % 7  # 1970 began on a Thursday
    return moments.astype("datetime64[h]").astype(np.int64) % 24
