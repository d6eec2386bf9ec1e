"""The parameters of a model: values, counts, how many there are, and as a linear view."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import ByValue, Name, title
from naively.counting.labels import LabelArray
from naively.frozen import Frozen
from naively.inspect.difference import Named as Items
from naively.inspect.difference import items_of
from naively.inspect.explain import NGRAMS, PRIOR
from naively.inspect.odds import Odds, weights_of_each
from naively.inspect.one_column import source_of
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.class_prior import class_probabilities, is_estimated, pretended_rows
from naively.model.model import Model
from naively.options import How
from naively.schema.schema import Group, list_names
from naively.tabular import SHOWN, Drawn, Tabular, as_text, crossed, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Estimated: TypeAlias = Literal["mle", "map", "mean"]
NAMES = ("class", "column", "item", "parameter", "value", "count", "pseudo_count")


class Table(Frozen):
    """One parameter of all rows of a block: columns, levels, words or bins."""

    parameter: str  # its name, such as "p" or "mean"
    column: Items  # returns the columns of some rows
    item: Items  # returns their items
    value: Floats  # (rows, classes): the estimate,
    count: Floats  # what was counted behind it,
    pseudo_count: Floats  # and what the prior adds to that
    # Returns how much each row tells the classes apart, in nats, (rows,), by what the scores of the
    # classes begin with, (classes,). None of the class prior, which is no item.
    telling: Callable[[Floats], Floats] | None


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
    target: str = ""  # the column that is predicted, if its name is known

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
        others, in nats, before weights are applied. For a mean and a variance it is that of the
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
        shown = np.bincount(self._table_of(self._rows), minlength=len(self.tables)) > 0
        for at in np.flatnonzero(shown).tolist():
            telling = self.tables[at].telling
            if telling is not None:
                tells[self._first[at] : self._first[at + 1]] = telling(self.start)
        rows = self._rows[tells[self._rows] > -np.inf]
        if n < len(rows):  # to partition is quicker than to sort
            rows = rows[tells[rows] >= -np.partition(-tells[rows], n - 1)[n - 1]]
        return replace(self, chosen=rows[np.argsort(-tells[rows], kind="stable")[:n]])

    def plot(self, ax: Axes | None = None, n: int = 20, *, count: bool = False) -> Axes:
        """Draw a table of the parameters, items by classes, as a heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.
        n : int, default 20
            How many items; of more, those that tell the classes apart most.
        count : bool, default False
            What was counted of each item, instead of the parameter.

        Notes
        -----
        It is of one kind of parameter: the first that is there ("p", or "mean"), without the class
        prior, which is drawn if nothing else is there.
        """
        first = self._first
        kinds = {
            i: table.parameter
            for i, table in enumerate(self.tables)
            if first[i + 1] > first[i] and table.telling is not None
        }
        kind = next(iter(kinds.values()), "p")
        chosen = [i for i, of in kinds.items() if of == kind] or range(len(self.tables))
        rows = self._rows[np.isin(self._table_of(self._rows), list(chosen))]
        shown, notes = replace(self, chosen=rows), []
        if len(rows) > n:
            shown = shown.strongest(n)
            notes = [f"{n:,} of {len(rows):,} items, that tell the classes apart most"]
        return picture(shown, ax, kind=kind, notes=notes, count=count)

    def _table_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the table that each of some rows is of, (rows,)."""
        return np.searchsorted(self._first, rows, side="right").astype(np.int64) - 1

    def _to_dict(self, rows: NDArray[np.int64]) -> dict[str, list[Any]]:
        """Return the columns of some rows of the tables."""
        ends = np.flatnonzero(np.diff(self._table_of(rows))) + 1
        found: dict[str, list[Any]] = {name: [] for name in NAMES}
        for part in np.split(rows, ends) if len(rows) else ():
            at = int(self._table_of(part[:1])[0])
            table, own = self.tables[at], part - self._first[at]
            items = {"column": table.column(own), "item": table.item(own)}
            items["parameter"] = [table.parameter] * len(own)
            pretend = table.pseudo_count[own].astype(object)
            pretend[np.isnan(table.pseudo_count[own])] = None  # nothing is estimated
            numbers = {"value": table.value[own], "count": table.count[own]}
            axes = items, {"class": self.classes.tolist()}
            for name, of in crossed(axes, {**numbers, "pseudo_count": pretend}).items():
                found[name] += of
        return found


def parameters(
    model: Model, how: Estimated | None = None, column: Name | None = None
) -> Parameters:
    """Return the parameters of a model (see ``nb.inspect.parameters``)."""
    if how is not None and how not in get_args(Estimated):
        raise ValueError(f"how must be 'mle', 'map' or 'mean', got {how!r}.")
    tables = [] if column is not None and column != PRIOR else [_of_prior(model, how)]
    for group in model.view.schema.groups:
        every = (*group.columns, *model.view.counts[group.key].axis.columns)
        if column is None or any(column in _names(name) for name in every):
            tables += _of_group(model, group, how, column)
    if not tables:
        known = list_names(model.view.schema.columns)
        raise ValueError(f"There is no column {column!r}; the columns are {known}.")
    return Parameters(model.classes, model.terms.start, tuple(tables))


def _names(name: Name) -> tuple[Name, ...]:
    """Return what a column is asked for by: that its cells are missing, by the column's name."""
    own = source_of(name)
    return name, title(name), own, title(own)


def _of_prior(model: Model, how: How | None) -> Table:
    """Return the class prior as a parameter."""
    prior, estimate = model.settings.class_prior, how or model.settings.estimate
    count = model.counted.tally.class_count
    more = 0.0 if estimate == "mle" else model.pretend_rows
    p = class_probabilities(prior, estimate, count, model.classes, more)
    pretend = pretended_rows(prior, estimate, model.classes, more)
    tables = p[None], count[None], pretend[None]
    names = (lambda rows: [PRIOR] * len(rows)), (lambda rows: [None] * len(rows))
    return Table("p", *names, *tables, None)


def _of_group(model: Model, group: Group, how: How | None, column: Name | None) -> Iterator[Table]:
    """Yield a table for each parameter of a group."""
    event, tally = group.event, model.view.counts[group.key]
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
                return _of_means(normal["mean"][rows], normal["variance"][rows], start)
            return np.zeros(len(own)) if parameter == "bandwidth" else _of_shares(own, start)

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
    name = source_of(name) if group.kind == "missing" else name
    of_ngrams = group.key in model.view.schema.of_character_ngrams
    return f"{title(name)} {NGRAMS}" if of_ngrams else title(name)


# How much an item tells is its largest absolute weight of evidence for any class.


def _of_shares(p: Floats, start: Floats) -> Floats:
    """Return how much rows tell of which each class has a share, (rows,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = weights_of_each(start, np.log(p))
    return np.asarray(np.abs(weights, out=weights).max(axis=1))


def _of_means(mean: Floats, variance: Floats, start: Floats) -> Floats:
    """Return how much the mean of each class tells, by the densities of all there, (rows,)."""
    found = np.zeros(len(mean))
    for c in range(len(start)):
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = (mean[:, [c]] - mean) ** 2 / variance
            distance[:, c] = 0.0  # its own mean, of a variance of 0 too
            weight = Odds(start, c).weight(-(np.log(variance) + distance) / 2)
        np.maximum(found, np.abs(weight), out=found)
    return found


# --- How many parameters a model has, and how many it would have without its assumption ----------


WRITTEN_OUT = 10**15  # up to which a number is written out
MOST_COLUMNS = 10_000  # that are counted without data
NEARLY = 1e-6  # how far a logarithm to base 2 is from a whole number at most


def count_parameters(model: Model) -> int:
    """Return how many parameters are free; a class prior that is given has none."""
    of_events = (g.event.n_parameters(model.view.counts[g.key]) for g in model.view.schema.groups)
    return _free_in_prior(model) + sum(of_events)


def count_joint_parameters(model: Model) -> ParameterCount | float:
    """Return how many the full joint table has: one for each possible row and class, or inf."""
    if any(group.kind == "missing" for group in model.view.schema.groups):
        return counts_of_model(model).n_joint_parameters
    values = [g.event.n_values(model.view.counts[g.key]) for g in model.view.schema.of_columns]
    if math.inf in values:
        return math.inf
    return _joint(math.prod(values), len(model.classes), _free_in_prior(model))


def _joint(rows: float, classes: int, of_prior: int) -> ParameterCount | float:
    """Return the parameters of a table of so many possible rows."""
    return math.inf if rows == math.inf else ParameterCount(classes * (int(rows) - 1) + of_prior)


def _free_in_prior(model: Model) -> int:
    return len(model.classes) - 1 if is_estimated(model.settings.class_prior) else 0


class ParameterCount(int):
    """A whole number of any size that prints as a power where it is long.

    The power is one of 2 where the number is nearly one, as booleans make it, and else of 10.

    Examples
    --------
    >>> ParameterCount(2 * (2**20 - 1) + 1)
    2097151
    >>> many = ParameterCount(2**10_001 - 1)
    >>> many, round(many.log2, 6), float(many)
    (about 2^10001, 10001.0, inf)
    >>> ParameterCount(10_000**1000), ParameterCount(3 * 10_000**1000)
    (about 10^4000, about 3·10^4000)
    """

    @property
    def log2(self) -> float:
        """The logarithm to base 2; -inf of none."""
        return math.log2(self) if self else -math.inf

    def __float__(self) -> float:
        try:
            return float(int(self))
        except OverflowError:
            return math.inf

    def __str__(self) -> str:
        if self <= WRITTEN_OUT:
            return int.__repr__(self)
        if abs(self.log2 - round(self.log2)) < NEARLY:
            return f"about 2^{self.log2:.0f}"
        power, rest = divmod(math.log10(self), 1.0)
        digits = f"{10**rest:.2g}"
        if digits == "10":
            power, digits = power + 1, "1"
        return f"about 10^{power:.0f}" if digits == "1" else f"about {digits}·10^{power:.0f}"

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        return format(int(self), specification) if self <= WRITTEN_OUT else str(self)


class Column(NamedTuple):
    """A column, or several that are one event: its values and its parameters."""

    name: str
    values: float  # how many it can have; inf where there is no end of them
    parameters: int


class ParameterCounts(Drawn):
    """How many parameters a model has with the naive Bayes assumption, and without it.

    Parameters
    ----------
    columns : tuple of Column
        The columns in their order, each with how many values and parameters it has of its own.
    classes : int
        How many classes there are.
    of_prior : int
        How many free parameters the class prior has.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X = [[True, False, True], [False, True, False]]
    >>> NaiveBayes().fit(X, ["yes", "no"]).inspect.parameter_counts()
    7 parameters with the naive Bayes assumption, 15 without it (2 classes, 3 columns).
    column  values  parameters  n_parameters  n_joint_parameters
    x0           2           2             3                   3
    x1           2           2             5                   7
    x2           2           2             7                  15
    """

    columns: tuple[Column, ...]
    classes: int
    of_prior: int

    @property
    def n_parameters(self) -> int:
        """How many free parameters the model has: of M booleans and two classes 2M + 1."""
        return self.with_assumption[-1] if self.columns else self.of_prior

    @property
    def n_rows(self) -> ParameterCount | float:
        """How many different rows there can be, whatever their class; inf of any numbers."""
        return _count(math.prod((column.values for column in self.columns), start=1))

    @property
    def n_joint_parameters(self) -> ParameterCount | float:
        """How many it would have without the assumption: 2(2ᴹ - 1) + 1; inf of any numbers."""
        return self.without[-1] if self.columns else ParameterCount(self.of_prior)

    @property
    def with_assumption(self) -> list[int]:
        """How many parameters the model of the first columns has, up to each column."""
        own = [column.parameters for column in self.columns]
        return list(accumulate(own, initial=self.of_prior))[1:]

    @property
    def without(self) -> list[ParameterCount | float]:
        """How many the joint table of the first columns has, up to each column."""
        one: float = 1
        values = list(accumulate((c.values for c in self.columns), _times, initial=one))[1:]
        return [_joint(rows, self.classes, self.of_prior) for rows in values]

    @property
    def log2_without(self) -> list[float]:
        """The logarithms to base 2 of ``without``, which are floats at any size."""
        return [n.log2 if isinstance(n, ParameterCount) else n for n in self.without]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the counts by column; those with ``n_`` are of all columns so far.

        As floats, so that ``n_joint_parameters`` may be inf where ``log2_joint_parameters`` is not.
        """
        found = self._columns()
        found["values"] = [float(values) for values in found["values"]]
        found["n_joint_parameters"] = [float(n) for n in self.without]
        return {**found, "log2_joint_parameters": self.log2_without}

    def __str__(self) -> str:
        n, joint = len(self.columns), self.n_joint_parameters
        size = f"{self.classes:,} classes, {many(n, 'column')}"
        first = (
            f"{self.n_parameters:,} parameters with the naive Bayes assumption, "
            f"{'infinitely many' if joint == math.inf else f'{joint:,}'} without it ({size})."
        )
        return f"{first}\n{as_text(self._columns())}" if self.columns else first

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "column": [column.name for column in self.columns],
            "values": [_count(column.values) for column in self.columns],
            "parameters": [column.parameters for column in self.columns],
            "n_parameters": self.with_assumption,
            "n_joint_parameters": self.without,
        }


def _times(rows: float, values: float) -> float:
    """Multiply whole numbers of any size, of which some are inf."""
    return math.inf if math.inf in (rows, values) else rows * values


def _count(values: float) -> float:
    return values if values == math.inf else ParameterCount(values)


def counts_of_model(model: Model) -> ParameterCounts:
    """Return the number of parameters by column (see ``nb.inspect.parameter_counts``)."""
    beside = ("missing", "missing as")
    missing = [group for group in model.view.schema.groups if group.kind in beside]
    found = [
        column
        for group in model.view.schema.groups
        if group not in missing
        for column in _by_column(model, group)
    ]
    place = {column.name: i for i, column in reversed([*enumerate(found)])}
    for group in missing:  # a missing cell is one more value of its column, or several
        free = group.event.n_parameters(model.view.counts[group.key])
        more = [len(name.levels) - 1 for name in group.derived]
        for name, values in zip(group.derived, more, strict=True):
            i = place[title(name.sources[0])]
            of, each = found[i], free // sum(more) * values
            found[i] = Column(of.name, _count(of.values + values), of.parameters + each)
    order = {title(name): place for place, name in enumerate(model.view.schema.order)}
    found.sort(key=lambda column: order.get(column.name, len(order)))
    return ParameterCounts(tuple(found), len(model.classes), _free_in_prior(model))


def parameter_counts(M: int, K: int = 2, values: int = 2) -> ParameterCounts:
    """Count the parameters of a model of M columns and K classes, without any data.

    Parameters
    ----------
    M : int
        How many columns.
    K : int, default 2
        How many classes.
    values : int, default 2
        How many values each column can have.

    Returns
    -------
    counts : ParameterCounts
        With ``n_parameters`` and ``n_joint_parameters``, with and without the naive Bayes
        assumption, and ``n_rows``, the different rows there can be; ``plot()`` draws how they grow.

    Raises
    ------
    ValueError
        If a number is below 1, or there are more than 10,000 columns.

    Examples
    --------
    >>> import naively
    >>> naively.parameter_counts(M=30, K=2).n_parameters
    61
    >>> naively.parameter_counts(M=30, K=2).n_joint_parameters
    2147483647
    >>> naively.parameter_counts(M=1000, values=10_000).n_rows
    about 10^4000
    """
    for name, number in (("M", M), ("K", K), ("values", values)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}.")
    if M > MOST_COLUMNS:
        raise ValueError(f"M must be at most {MOST_COLUMNS:,} columns, got {M:,}.")
    columns = (Column(f"x{j}", ParameterCount(values), K * (values - 1)) for j in range(M))
    return ParameterCounts(tuple(columns), K, K - 1)


def _by_column(model: Model, group: Group) -> Iterator[Column]:
    """Yield the columns of a group, or all together where they are one event."""
    event, tally = group.event, model.view.counts[group.key]
    axis, names = tally.axis, [title(name) for name in tally.axis.columns]
    of_all = event.n_values(tally)
    if event.joined or group.analyser is not None or len(names) == 1:
        yield Column(
            ", ".join(names[:3]) + ", ..." * (len(names) > 3), of_all, event.n_parameters(tally)
        )
    elif isinstance(axis, ByValue):
        for name, column in zip(names, axis.columns, strict=True):
            own = tally.of([column])
            yield Column(name, event.n_values(own), event.n_parameters(own))
    else:  # all columns are alike
        d = len(names)
        values = math.inf if of_all == math.inf else event.n_values(tally.of(axis.columns[:1]))
        each = event.n_parameters(tally) // max(d, 1)
        yield from (Column(name, values, each) for name in names)


# --- The linear view: a model as weights, where its log odds are a line in the features ----------


FEATURES = 10  # features of greatest weight
INTERCEPT = "(intercept)"


class Linear(Tabular):
    """Weights and intercepts, shaped as those of scikit-learn's linear models.

    With two classes ``X @ coef[0] + intercept[0]`` is the log odds of the second class, and its
    sign the prediction; with more, ``X @ coef.T + intercept`` is largest for the predicted class.
    Here ``X`` holds the features, in the order of their names:

    * a number, a count, or a truth (0 or 1) as it is, named by its column;
    * a number that is added clipped as ``min(max(x, 17), 90)``, named "age in [17, 90]";
    * for each level of a column 1 where the cell is that level, else 0, named ``column=level``;
    * how often a text holds each word (for ``Bernoulli``, whether it does), likewise.

    No cell is missing in them: what it says that cells are there is in the intercepts.

    As a table it has the columns ``class``, ``feature`` and ``weight``, and the intercepts (biases)
    are in it as the feature "(intercept)".

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> X, y = {"colour": ["red", "red", "blue", "blue"]}, ["warm", "warm", "cold", "warm"]
    >>> view = NaiveBayes(Categorical(), weights=None).fit(X, y).inspect.linear()
    >>> view.feature_names.tolist(), view.coef.round(2), view.intercept.round(2)
    (['colour=red', 'colour=blue'], array([[ 0.59, -0.51]]), array([1.1]))
    """

    feature_names: NDArray[np.object_]  # (features,)
    coef: Floats  # (1, features) for two classes, else (classes, features)
    intercept: Floats  # (1,) for two classes, else (classes,)
    classes: LabelArray  # (classes,)
    target: str = ""  # the column that is predicted, if its name is known

    def to_dict(self) -> dict[str, list[Any]]:
        names = [INTERCEPT, *self.feature_names.tolist()]
        weight = np.column_stack([self.intercept, self.coef])
        return crossed(({"class": self.labels}, {"feature": names}), {"weight": weight})

    @property
    def labels(self) -> list[Any]:
        """The class that each row of the weights speaks for: of two, the second."""
        labels: list[Any] = self.classes.tolist()
        return labels[1:] if len(labels) == 2 else labels

    def __str__(self) -> str:
        of = list(map(repr, self.classes.tolist()))
        if len(of) == 2:
            of = [f"log odds of {of[1]} against {of[0]}"]
        lines = []
        for what, coef, intercept in zip(of, self.coef, self.intercept, strict=True):
            lines += [what, f"  {intercept:+.3f}  {INTERCEPT}"]
            greatest = np.argsort(-np.abs(coef), kind="stable")[:FEATURES]
            lines += [f"  {coef[j]:+.3f}  {self.feature_names[j]}" for j in greatest]
            if len(coef) > FEATURES:
                lines.append(f"  and {len(coef) - FEATURES:,} features of less weight")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, n: int = 10) -> Axes:
        """Draw the weights of the n features of the largest ones as bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.
        n : int, default 10
            How many features; with more than two classes each has a bar for every class, and of
            many classes the first are drawn.

        Returns
        -------
        ax : matplotlib.axes.Axes
            With the intercept in its title where there are two classes.
        """
        return picture(self, ax, n=n)


def linear(model: Model) -> Linear:
    """Return the linear view of a model (see ``nb.inspect.linear``)."""
    if model.has_interactions:
        raise ValueError(
            "The model is not linear in its interactions: each is of several columns at a time."
        )
    names: list[str] = []
    tables, total = [], model.terms.start
    for group in model.view.schema.groups:
        axis, terms = model.view.axes[group.key], model.terms.of[group.key]
        try:
            slope, constant = terms.evidence.linear()
        except ValueError as error:
            kind = group.event.name
            raise ValueError(f"The model is not linear in its {kind} columns: {error}") from None
        if group.kind == "missing as":  # no cell is
            continue
        total = total + constant
        if group.kind == "missing":  # no cell is: what it says that they are there is the same
            there = np.zeros(len(axis.columns), np.int64)
            total = total + terms.at(there, np.arange(len(there))).sum(axis=0)
            continue
        labels = [axis.label(row) for row in range(len(axis))]
        names += [title(c) if level is None else f"{title(c)}={level}" for c, level in labels]
        tables.append(slope)
        for beside in terms.beside:
            for name, more, start in beside.features(axis.columns):
                names.append(name)
                tables.append(more[None])
                total = total + start
    coef = np.concatenate(tables).T if tables else np.empty((len(total), 0))
    if len(total) == 2:
        coef, total = coef[1:] - coef[:1], total[1:] - total[:1]
    return Linear(np.array(names, object), coef, total, model.classes)
