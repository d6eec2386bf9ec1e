"""Rows that fade: with a half-life, a row weighs the less the older it is.

A row counts 0.5 to the power of its age over the half-life, where the newest row learned has the
age 0. What was learned before fades by as much when newer rows come, so that in whatever batches
rows come, what is counted is the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from naively.assess.refits import Named
from naively.counting.axis import Name
from naively.counting.labels import RowWeight, Target, check_weight
from naively.data.columns import Reading, Rows, missing_column
from naively.data.frames import Table, as_rows, elsewhere
from naively.data.reading import TIME_OF_ROWS, joined_readings
from naively.estimators.learned import Learned
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import warn
from naively.options import duration_of

HalfLife = float | str | dt.timedelta | np.timedelta64 | None
NOTHING_LEFT = 1e-30  # of a row, and of what was learned, at which it is as good as gone


class FadedRows(Frozen):
    """Rows with their weights, relative to the newest row of all."""

    rows: Rows  # the rows, without the column of their time
    weight: Floats  # (rows,): what each weighs, what was given of it included
    newest: float  # the time of the newest row, of these and of those learned before
    factor: float  # by how much what was learned before fades; 0 if nothing is left of it
    readings: Mapping[Name, Reading]  # how the strings of their times are read, if they are strings

    @classmethod
    def of(
        cls,
        X: Table,
        texts: bool | None,
        weight: RowWeight,
        time: Target,
        half_life: HalfLife,
        read_rows: Callable[[Rows], Rows],
        before: float | None,
    ) -> FadedRows:
        """Find what rows weigh, which follow those of a model whose newest is ``before``."""
        # read_rows reads strings as the model does; an array's, whatever other columns say.
        if time is None:
            raise ValueError(
                "half_life needs the time of each row: give time=, the name of a column or an "
                "array."
            )
        if elsewhere(X) is not None:
            raise ValueError("half_life needs rows in memory; read them, in batches if need be.")
        rows = as_rows(X, texts)
        if isinstance(time, str):
            if time not in rows.names:
                raise ValueError(missing_column(time, rows.names, "column of time"))
            named, times = Named(time, rows.cells(time)), read_rows(rows)
            rows = rows.select([name for name in rows.names if name != time])
        else:
            named, times = Named("", time), read_rows(as_rows({TIME_OF_ROWS: time}))
        name = named.name or TIME_OF_ROWS
        readings: dict[Name, Reading] = {}
        readings |= {of: read for of, read in times.readings.items() if of == name}
        if readings:
            named = replace(named, values=times.cells(name))
            if "give day_first=" in readings[name].note:
                warn(f"The time of each row: {readings[name].note}.")
        if isinstance(weight, str):
            name, weight = weight, rows.values(weight)
            rows = rows.select([of for of in rows.names if of != name])
        moments = named.moments(len(rows))
        unit = units(half_life, named)
        newest = float(moments.max(initial=-np.inf if before is None else before))
        with np.errstate(under="ignore"):
            faded = np.exp2((moments - newest) / unit)
            factor = 1.0 if before is None else float(np.exp2((before - newest) / unit))
        faded[faded < NOTHING_LEFT] = 0.0
        given = check_weight(weight, len(rows))
        own = faded if given is None else faded * given
        return cls(rows, own, newest, 0.0 if factor < NOTHING_LEFT else factor, readings)

    def kept_in(self, learned: Learned) -> Learned:
        """Return what knows how new its newest row is, and how times are read."""
        schema = learned.model.counted.schema
        before = {name: of for name, of in schema.readings.items() if name in self.readings}
        now = {**schema.readings, **joined_readings(before, self.readings)}
        schema = replace(schema, readings=now)
        model = learned.model.counting(schema=schema, newest=self.newest)
        return replace(learned, model=model)


def units(half_life: HalfLife, time: Named) -> float:
    """Return a half-life in the units of times: seconds of dates, or those of numbers."""
    seconds = duration_of(half_life)
    if time.is_time:
        if seconds is None:
            raise ValueError(
                f"half_life must be a duration such as '30d', as {time.of or 'time'} holds dates; "
                f"got {half_life!r}."
            )
        return seconds
    if seconds is not None:
        raise ValueError(
            f"half_life must be a number, as {time.of or 'time'} holds numbers and no dates; got "
            f"{half_life!r}."
        )
    assert isinstance(half_life, int | float)
    return float(half_life)
