"""What is asked of each row can be asked of tables that are not in memory, batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np

from naively.counting.labels import LabelArray
from naively.data.frames import Table
from naively.data.rows import join_columns
from naively.estimators.accessors import Fitted
from naively.estimators.checks import is_single

Verb = TypeVar("Verb", bound=Callable[..., Any])


def by_row(title: str) -> Callable[[Verb], Verb]:
    """Let a method that answers for each row take tables that are not in memory.

    Parameters
    ----------
    title : str
        The name of the column that it makes of a lazy frame; with {} for the label, of the columns.
    """

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def answer(self: Fitted, X: Table, *args: Any, **kwargs: Any) -> Any:
            stream = self._stream(X)
            if stream is None:
                return verb(self, X, *args, **kwargs)
            classes = self._checked.classes  # what is not fitted yet says so now
            # The model is that of now, whatever is learned before the rows are read.
            ask = partial(_of_rows, partial(verb, copy(self)), args, kwargs)
            if "polars" in sys.modules and isinstance(X, sys.modules["polars"].LazyFrame):
                unsure = "reject" in kwargs and kwargs["reject"] is not None
                single = is_single(kwargs.get("dtype", np.float64))
                return _lazy_frame(X, ask, title, classes, unsure=unsure, single=single)
            # What strings spell is known to the model; only the rows of a file say it themselves.
            rows = stream if X is stream else map(join_columns, stream.columns())
            return map(ask, rows)

        return cast("Verb", answer)

    return decorate


def _of_rows(verb: Any, args: Any, kwargs: Any, rows: Table) -> Any:
    return verb(rows, *args, **kwargs)


def _lazy_frame(
    X: Any,
    ask: Callable[[Table], Any],
    title: str,
    classes: LabelArray,
    *,
    unsure: bool,
    single: bool,
) -> Any:
    """Return a lazy frame of the answers to the rows of a lazy frame."""
    import polars as pl

    if title == "prediction":
        # A column is of one type, and "unsure" is a string.
        schema = {title: pl.String() if unsure else pl.Series(_plain(classes)).dtype}
    elif "{}" in title:
        number = pl.Float32() if single else pl.Float64()
        schema = dict.fromkeys((title.format(label) for label in classes.tolist()), number)
    else:
        schema = {title: pl.Float64()}

    def answers(frame: Any) -> Any:
        found = ask(frame)
        if found.ndim == 2:
            return pl.DataFrame(np.ascontiguousarray(found), schema)
        if unsure:
            found = np.array(list(map(str, found.tolist())), object)
        return pl.DataFrame({title: _plain(found)}, schema)

    return X.map_batches(answers, schema=schema, streamable=True)


def _plain(labels: LabelArray) -> Any:
    """Return labels as Polars takes them: of objects, a list."""
    return labels.tolist() if labels.dtype.kind == "O" else labels
