"""The parameters of a model: each number that was estimated, and what was counted behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Name, title
from naively.counting.labels import LabelArray
from naively.events import Beta, Dirichlet
from naively.kernels.reference import Floats
from naively.model.class_prior import class_probabilities, is_estimated, pretend_classes
from naively.model.explain import NGRAMS, PRIOR
from naively.model.items import Items, items_of
from naively.model.model import Model
from naively.model.odds import Odds
from naively.options import How
from naively.schema.derived import Missing
from naively.schema.group import Group
from naively.schema.schema import list_names
from naively.tabular import SHOWN, Tabular, as_text

Estimated: TypeAlias = Literal["mle", "map", "mean"]
NAMES = ("class", "column", "item", "parameter", "value", "count", "pseudo_count")


@dataclass(frozen=True, eq=False)
class Table:
    """One parameter of all rows of a block: columns, levels, words or bins.

    Parameters
    ----------
    parameter : str
        Its name, such as "p" or "mean".
    column, item : callable
        Return the column and the item of some rows.
    value, count, pseudo_count : ndarray of shape (rows, classes)
        The estimate, what was counted behind it, and what the prior adds to that.
    telling : callable
        Returns how much each row tells the classes apart, in nats, (rows,), by what the scores of
        the classes begin with, (classes,).
    """

    parameter: str
    column: Items
    item: Items
    value: Floats
    count: Floats
    pseudo_count: Floats
    telling: Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Parameters(Tabular):
    """The parameters of a model as a table, one row for each parameter and class.

    Its columns are ``class``, ``column``, ``item`` (a level, word or bin, or None for a parameter
    of the whole column), ``parameter`` ("p", "mean", "variance", "rate", "bandwidth" or "ratio"),
    ``value``, ``count`` and ``pseudo_count``.

    Notes
    -----
    The count is what was counted behind the estimate: rows of a level or bin, how often a word
    came, the events of a rate, or all rows with a value in the column. The pseudo-count is what the
    prior adds to it; it is None where nothing is estimated. A bin is a string that has ``low`` and
    ``high``. What is undefined, as maximum likelihood from nothing, is NaN. Where missing cells are
    evidence, the item "(missing)" of a column says how probable it is that there is no value; all
    its other items are of cells that are there.

    With ``Complement`` p and the count are those of all other classes.

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> X, y = {"sky": ["blue", "grey", "grey"]}, ["sun", "sun", "rain"]
    >>> NaiveBayes(Categorical(alpha=1.0)).fit(X, y).inspect.parameters(column="sky")
    class  column  item  parameter     value  count  pseudo_count
    rain   sky     blue  p          0.333333      0             1
    sun    sky     blue  p               0.5      1             1
    rain   sky     grey  p          0.666667      1             1
    sun    sky     grey  p               0.5      1             1
    """

    classes: LabelArray  # (classes,)
    start: Floats  # (classes,): what the scores of the classes begin with
    tables: tuple[Table, ...]
    chosen: NDArray[np.int64] | None = None  # (rows,) of all tables, that are shown; None: all

    def __len__(self) -> int:
        return len(self._rows) * len(self.classes)

    @property
    def _rows(self) -> NDArray[np.int64]:
        """The rows of the tables, numbered through all tables, that are shown."""
        return np.arange(self._first[-1]) if self.chosen is None else self.chosen

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return np.cumsum([0, *(len(table.value) for table in self.tables)], dtype=np.int64)

    def to_dict(self) -> dict[str, list[Any]]:
        return self._to_dict(self._rows)

    def __str__(self) -> str:
        some = -(-SHOWN // max(len(self.classes), 1))
        return as_text(self._to_dict(self._rows[:some]), len(self))

    def strongest(self, n: int = 10) -> Parameters:
        """Return the parameters of the n items that tell the classes apart most, strongest first.

        Parameters
        ----------
        n : int, default 10
            How many items; each has a row for every class.

        Returns
        -------
        parameters : Parameters

        Notes
        -----
        How much an item tells is its largest absolute weight of evidence for a class against all
        others, in nats, before weights are applied. Of a mean and a variance it is that of the
        class's mean; a bandwidth tells nothing, and the class prior is no item.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> texts, y = ["cheap cheap pills", "lunch now", "pills now"], ["spam", "ham", "spam"]
        >>> nb = NaiveBayes(text="words").fit(texts, y)
        >>> nb.inspect.parameters().strongest(1).to_dict()["item"]
        ['lunch', 'lunch']
        """
        if n < 1:
            raise ValueError(f"n must be a number of items that is at least 1, got {n}.")
        tells = np.full(self._first[-1], -np.inf)
        for table, (start, end) in zip(self.tables, pairwise(self._first.tolist()), strict=True):
            tells[start:end] = table.telling(self.start)
        rows = self._rows[tells[self._rows] > -np.inf]
        if n < len(rows):  # to partition is quicker than to sort
            rows = rows[tells[rows] >= -np.partition(-tells[rows], n - 1)[n - 1]]
        best = rows[np.argsort(-tells[rows], kind="stable")[:n]]
        return replace(self, chosen=best)

    def _to_dict(self, rows: NDArray[np.int64]) -> dict[str, list[Any]]:
        """Return the columns of some rows of the tables."""
        k, n = len(self.classes), len(rows)
        of = np.searchsorted(self._first, rows, side="right") - 1
        ends = np.flatnonzero(np.diff(of)) + 1
        found: dict[str, list[Any]] = {name: [] for name in NAMES}
        found["class"] = self.classes.tolist() * n
        for part in np.split(rows, ends) if n else ():
            at = int(np.searchsorted(self._first, part[0], side="right")) - 1
            table, own = self.tables[at], part - self._first[at]
            found["column"] += _each(table.column(own), k)
            found["item"] += _each(table.item(own), k)
            found["parameter"] += [table.parameter] * (len(own) * k)
            found["value"] += table.value[own].ravel().tolist()
            found["count"] += table.count[own].ravel().tolist()
            found["pseudo_count"] += _or_none(table.pseudo_count[own])
        return found


def _each(values: list[Any], k: int) -> list[Any]:
    """Repeat each value k times."""
    return [value for value in values for _ in range(k)]


def _or_none(table: Floats) -> list[Any]:
    """Return the numbers of a table row by row; None for NaN."""
    values: list[Any] = table.ravel().tolist()
    return [None if v != v else v for v in values] if np.isnan(table).any() else values  # noqa: PLR0124


def parameters(
    model: Model, how: Estimated | None = None, column: Name | None = None
) -> Parameters:
    """Return the parameters of a model (see ``nb.inspect.parameters``)."""
    if how is not None and how not in get_args(Estimated):
        raise ValueError(f"how must be 'mle', 'map' or 'mean', got {how!r}.")
    tables = [] if column is not None and column != PRIOR else [_of_prior(model, how)]
    for group in model.schema.groups:
        tally = model.counts[group.key]
        if column is None or _is_of(column, group, tally.axis):
            tables += _of_group(model, group, how, column)
    if not tables:
        every = model.schema.columns
        raise ValueError(f"There is no column {column!r}; the columns are {list_names(every)}.")
    return Parameters(model.classes, model.start, tuple(tables))


def _is_of(column: Name, group: Group, axis: Axis) -> bool:
    """Whether a group has a column, which is named or numbered."""
    return any(column in _names(name) for name in (*group.columns, *axis.columns))


def _names(name: Name) -> tuple[Name, ...]:
    """Return what a column is asked for by: that its cells are missing, by the column's name."""
    own = name.of if isinstance(name, Missing) else name
    return name, title(name), own, title(own)


def _of_prior(model: Model, how: How | None) -> Table:
    """Return the class prior as a parameter."""
    prior, estimate = model.settings.class_prior, how or model.settings.estimate
    count = model.tally.class_count
    p = class_probabilities(prior, estimate, count, model.classes)
    pretend: Any = 0.0 if is_estimated(prior) else np.nan
    if isinstance(prior, Beta | Dirichlet):
        pretend = pretend_classes(prior, estimate, model.classes)
    return Table(
        "p",
        lambda rows: [PRIOR] * len(rows),
        lambda rows: [None] * len(rows),
        p[None],
        count[None],
        np.broadcast_to(pretend, (1, len(p))),
        lambda _: np.full(1, -np.inf),
    )


def _of_group(model: Model, group: Group, how: How | None, column: Name | None) -> Iterator[Table]:
    """Yield a table for each parameter of a group."""
    event, tally = group.event, model.counts[group.key]
    axis, how = tally.axis, how or event.estimate
    found = event.parameters(tally, how)
    count, pretend = event.counted(tally), event.pretended(tally, how)
    of, item = items_of(model, group)
    names = [_column(model, group, name) for name in axis.columns]
    wanted = np.array([column in _names(name) for name in axis.columns], np.bool_)
    if column is None or not wanted.any():  # it is one of several columns that are one event
        wanted[:] = True
    rows = np.flatnonzero(wanted[of])
    if group.kind == "missing":  # the rest of its rows are of cells that are there
        rows = rows[[axis.label(row)[1] for row in rows.tolist()]]
    normal = found if {"mean", "variance"} <= found.keys() else {}

    for parameter, value in found.items():
        own = value[rows]

        def telling(start: Floats, own: Floats = own, parameter: str = parameter) -> Floats:
            if normal:
                return _telling(_at_means(normal["mean"][rows], normal["variance"][rows]), start)
            if parameter == "bandwidth":
                return np.zeros(len(own))
            with np.errstate(divide="ignore", invalid="ignore"):
                return _telling([np.log(own)] * len(start), start)

        yield Table(
            parameter,
            lambda some: [names[j] for j in of[rows[some]].tolist()],
            lambda some: item(rows[some]),
            own,
            np.broadcast_to(count, value.shape)[rows],
            np.broadcast_to(pretend, value.shape)[rows],
            telling,
        )


def _column(model: Model, group: Group, name: Name) -> str:
    """Return the name of a column; that of a text says which of its tokens are no words."""
    if isinstance(name, Missing):
        return title(name.of)
    return (
        f"{title(name)} {NGRAMS}" if group.key in model.schema.of_character_ngrams else title(name)
    )


def _telling(log_p: Iterable[Floats], start: Floats) -> Floats:
    """Return the largest absolute weight of evidence of each row for any class, (rows,).

    ``log_p`` is, for each class, what its weight is of, (rows, classes).
    """
    odds = (Odds(start, c) for c in range(len(start)))
    weights = [np.abs(of.weight(table)) for of, table in zip(odds, log_p, strict=True)]
    largest: Floats = np.maximum.reduce(weights)
    return largest


def _at_means(mean: Floats, variance: Floats) -> Iterator[Floats]:
    """Yield for each class the log densities of all classes at its mean, (rows, classes)."""
    for c in range(mean.shape[1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = (mean[:, [c]] - mean) ** 2 / variance
            distance[:, c] = 0.0  # its own mean, of a variance of 0 too
            yield -(np.log(variance) + distance) / 2
