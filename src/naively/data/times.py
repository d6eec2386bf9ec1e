"""Strings that are times become times, and times have parts: hour, weekday, month.

A part is worth a column of its own only if its cycle repeats in the data; until then the time
itself tells as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.names import Name, title
from naively.data.columns import NOT_A_TIME, TIME, Cells, Kind, as_floats
from naively.data.rows import Rows
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
        return np.stack([as_floats(self.cells(name)) for name in names], axis=1)

    def cells(self, name: Name) -> Cells:
        if name not in self.times:
            return self.rows.cells(name)
        if name not in self._read:
            self._read[name] = _as_times(name, self.rows.cells(name))
        return self._read[name]

    def take(self, index: Any) -> TimedRows:
        return replace(self, rows=self.rows.take(index), _read={})


def _as_times(name: Name, cells: Cells) -> NDArray[np.datetime64]:
    """Return a column of shape (rows,) as times, or raise a ValueError if a cell is not one."""
    if not isinstance(cells, Strings):
        missing = cells.dtype.kind != "M"  # a column of another type is missing throughout
        return np.full(len(cells), NOT_A_TIME) if missing else cells
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
