"""What two models have learned differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Cells, Levels, Name, RowMap, title
from naively.counting.labels import Label
from naively.events import Histogram
from naively.frozen import Frozen
from naively.inspect.likelihood import class_codes
from naively.inspect.odds import weights_of_each
from naively.kernels.reference import Floats
from naively.model.model import Model, Weights
from naively.schema.schema import Group, event_names, list_names
from naively.schema.settings import Settings
from naively.tabular import Drawn
from naively.terms.terms import Facts

NAMES = ("what", "column", "item", "class", "before", "after", "change")
FOUND = ("weights", "interactions")  # of which it is said what came of them
NEGLIGIBLE = 1e-9  # of a count, as a share, and of evidence and weights: the rounding of sums


class Change(Frozen, eq=True):
    """One thing that differs; a row of a ``Difference``."""

    what: str
    column: str | None = None
    item: Any = None
    label: Any = None
    before: Any = None
    after: Any = None
    change: float | None = None


class Difference(Drawn):
    """How a second model differs from a first one, as a table with a row for each difference.

    Its columns are ``what``, ``column``, ``item``, ``class``, ``before``, ``after`` and ``change``.
    ``what`` is "setting" (an option, weights, interactions, a linear part); "class" or "column",
    which only one of them has; "event model" of a column; "rows" of a class; "divergence" of the
    classes' shares or a column's (Jensen-Shannon, in nats, of those that have moved beyond chance,
    with the level or bin that moved most and its share in each model); "levels", "words" or
    "n-grams", how many only one has, and "level", "word" or "n-gram" for these, by how often it
    came; "count" of a level, a word, or the cells of a column in a class; "evidence", the weight of
    evidence of a level, a word or a number for a class against all others, in nats (of two classes,
    for the first); and "weight", the factor of a column's evidence in a class, with its "bias".
    Only the counts, evidence and weights that changed most are listed. What a model does not have
    is None.

    Parameters
    ----------
    changes : tuple of Change
        The differences.
    equal : bool
        Whether the models are the same: all counts, settings and weights, but for rounding.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X, y = {"sky": ["blue", "grey", "grey"]}, ["sun", "sun", "rain"]
    >>> nb = NaiveBayes(weights=None).fit(X, y)
    >>> more = NaiveBayes(weights=None).fit(X, y).partial_fit({"sky": ["red"]}, ["sun"])
    >>> print(nb.inspect.difference(more, 1))
    what    column  item  class  before  after  change
    rows                  sun    2           3       1
    levels  sky                  0           1       1
    level   sky     red                      1       1
    ...
    >>> nb.inspect.difference(nb).equal
    True
    """

    changes: tuple[Change, ...]
    equal: bool

    def to_dict(self) -> dict[str, list[Any]]:
        rows = [[*vars(change).values()] for change in self.changes]
        return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}

    def __str__(self) -> str:
        """Return the table, or a sentence where there is nothing in it."""
        if self.equal:
            return "The models are equal."
        if not self.changes:
            return "The models differ in numbers that were counted, and in nothing that follows."
        return super().__str__()


def difference(a: Model, b: Model, n: int = 10) -> Difference:
    """Return how a model differs from another (see ``nb.inspect.difference``)."""
    if n < 1:
        raise ValueError(f"n must be a number of differences that is at least 1, got {n}.")
    changes = [*_settings(a, b), *_classes(a, b), *_columns(a, b), *_divergences(a, b, n)]
    theirs = set(b.classes.tolist())
    shared = [label for label in a.classes.tolist() if label in theirs]
    if shared:
        changes += _items(items_of_both(a, b, shared), shared, n)
        changes += _weights(a.weights, b.weights, shared, n)
    equal = not changes and _same_counts(a, b) and _same_linear_part(a.weights, b.weights)
    return Difference(tuple(changes), equal)


def _same_counts(a: Model, b: Model) -> bool:
    """Whether all that was counted is the same but for rounding."""
    if {g.key for g in a.counted.schema.groups} != {g.key for g in b.counted.schema.groups}:
        return False
    left, size = a.counted.tally - b.counted.tally, a.counted.tally + b.counted.tally
    for key, block in left.blocks.items():
        for statistic, sums in block.sums.items():
            most = np.abs(size.blocks[key][statistic].high).max(initial=0.0)
            if np.abs(sums.high).max(initial=0.0) > NEGLIGIBLE * most:
                return False
    return True


def _same_linear_part(a: Weights | None, b: Weights | None) -> bool:
    """Whether what is added to the evidence is the same but for rounding."""
    if a is None or b is None:
        return a is b
    for name in ("of", "products", "rules"):
        mine, theirs = getattr(a.linear, name), getattr(b.linear, name)
        if mine.keys() != theirs.keys() or a.classes != b.classes:
            return False
        if not all(np.allclose(mine[term], theirs[term], rtol=NEGLIGIBLE) for term in mine):
            return False
    return True


def _settings(a: Model, b: Model) -> Iterator[Change]:
    for name in (of.name for of in fields(Settings) if of.init and of.name not in FOUND):
        before, after = (str(getattr(model.settings, name)) for model in (a, b))
        if before != after:
            yield Change("setting", item=name, before=before, after=after)
    told: dict[str, list[str | None]] = {
        "linear part": [
            str(m.weights.linear) if m.weights and m.weights.linear else None for m in (a, b)
        ],
        "weights": [None if m.weights is None else m.weights.how for m in (a, b)],
        "interactions": [
            list_names(sorted(m.weights.linear.together)) or None if m.weights else None
            for m in (a, b)
        ],
    }
    for name, (mine, theirs) in told.items():
        if mine != theirs:
            yield Change("setting", item=name, before=mine, after=theirs)


def _classes(a: Model, b: Model) -> Iterator[Change]:
    mine, theirs = map(_rows_of_classes, (a, b))
    for label in mine | theirs:
        before, after = mine.get(label), theirs.get(label)
        if before is None or after is None:
            yield Change("class", label=label, before=before, after=after)
        elif abs(after - before) > NEGLIGIBLE * max(before, after):
            yield Change("rows", label=label, before=before, after=after, change=after - before)


def _rows_of_classes(model: Model) -> dict[Label, float]:
    """Return how many rows each class has."""
    count = model.counted.tally.class_count.tolist()
    return dict(zip(model.classes.tolist(), count, strict=True))


def _columns(a: Model, b: Model) -> Iterator[Change]:
    names: dict[Name, None] = dict.fromkeys([*a.view.schema.order, *b.view.schema.order])
    names |= dict.fromkeys([*a.view.schema.columns, *b.view.schema.columns])
    for name in names:
        before, after = (
            event_names(m.view.schema.groups_of[name])
            if name in m.view.schema.columns
            else "not learned"
            if name in m.view.schema.order
            else None
            for m in (a, b)
        )
        if before != after:
            what = "column" if before is None or after is None else "event model"
            yield Change(what, title(name), before=before, after=after)


# --- Divergences: how far the shares of classes, levels and bins have moved ----------------------


def _divergences(a: Model, b: Model, n: int) -> list[Change]:
    """Return what has moved beyond chance, most moved first; of words, counts tell."""
    found: list[tuple[float, float, Change]] = []  # p, how far beyond chance, and what

    def compare(column: str | None, counts: list[Floats], items: list[Any]) -> None:
        if min(of.sum() for of in counts) > 0:
            far = Apart.of(np.stack(counts), np.stack(counts), missing=column is not None)
            of, ends = far.divergence, (far.before, far.after)
            change = Change("divergence", column, items[far.cell], None, *ends, of)
            found.append((far.p, of - far.chance, change))

    both = [_rows_of_classes(model) for model in (a, b)]
    labels = [*(both[0] | both[1])]
    compare(None, [np.array([of.get(label, 0.0) for label in labels]) for of in both], labels)
    for name, counts, items in _shares(a, b):
        compare(title(name), counts, items)
    p = holm(np.array([one[0] for one in found]))
    moved = [one[1:] for one, is_p in zip(found, p.tolist(), strict=True) if is_p < OUTSIDE]
    return [change for _, change in sorted(moved, key=lambda one: -one[0])[:n]]


def _shares(a: Model, b: Model) -> Iterator[tuple[Name, list[Floats], list[Any]]]:
    """Yield each column that is counted by value in both, its counts in both, and its cells."""
    for group in a.view.schema.of_columns:
        for other in b.view.schema.of_columns:
            tallies = a.view.counts[group.key], b.view.counts[other.key]
            axis, theirs = (of.axis for of in tallies)
            if not isinstance(axis, Levels | Cells) or type(axis) is not type(theirs):
                continue
            if not set(axis.columns) & set(theirs.columns):
                continue
            joined, *places = axis.union(theirs)  # type: ignore[arg-type]  # of one type
            every = []
            for tally, at in zip(tallies, places, strict=True):
                count = np.zeros(len(joined))
                of = tally[axis.statistic].high.sum(axis=1)
                np.add.at(count, np.arange(len(of)) if at is None else at, of)
                every.append(count)
            for j, name in enumerate(joined.columns):
                if name in axis.columns and name in theirs.columns:
                    some = slice(int(joined.first[j]), int(joined.first[j + 1]))
                    of_column = [count[some] for count in every]
                    cells, items = _binned(joined, some, of_column)
                    rows = (model.counted.tally.class_count.sum() for model in (a, b))
                    each = zip(cells, rows, strict=True)
                    counts = [np.append(of, max(0.0, n - of.sum())) for of, n in each]
                    yield name, counts, [*items, MISSING]


def _binned(
    axis: Levels | Cells, some: slice, counts: list[Floats]
) -> tuple[list[Floats], list[Any]]:
    """Return the counts of levels, or of about equally full bins of cells, and what these are."""
    if isinstance(axis, Levels):
        return counts, [axis.label(row)[1] for row in range(some.start, some.stop)]
    total = counts[0] + counts[1]
    before = np.cumsum(total) - total
    bins = np.floor(BINS * before / max(total.sum(), 1e-300)).astype(np.int64)
    begins = np.diff(np.clip(bins, 0, BINS - 1), prepend=-1) > 0
    first, place = np.flatnonzero(begins), np.cumsum(begins) - 1
    last = np.append(first, len(place))[1:] - 1
    ends = zip(axis.low[some][first].tolist(), axis.high[some][last].tolist(), strict=True)
    items = [Interval.of(low, high, last=True) for low, high in ends]
    return [np.bincount(place, of, len(first)).astype(np.float64) for of in counts], items


def _items(every: Iterable[ItemsOfTwo], classes: list[Any], n: int) -> Iterator[Change]:
    """Yield what differs in items; of many classes they are too many to be held at once."""
    count: dict[tuple[str, Any, Any], Change] = {}
    evidence: dict[tuple[str, Any, Any], Change] = {}
    for items in every:
        yield from _only_in_one(items, n)
        if items.count is not None:
            count = _most(count, "count", items, items.count, classes, n)
        evidence = _most(evidence, "evidence", items, items.evidence, classes, n)
    yield from count.values()
    yield from evidence.values()


def _only_in_one(items: ItemsOfTwo, n: int) -> Iterator[Change]:
    """Yield how many levels or words only one model has, and the most frequent of these."""
    rows = np.flatnonzero(items.known[0] != items.known[1])
    if not len(rows):
        return
    assert items.count is not None
    by_column: dict[str, list[int]] = {}
    if items.what != "level":  # all are of one text
        by_column[title(items.label(int(rows[0]))[0])] = rows.tolist()
    for row in rows.tolist() if not by_column else ():
        by_column.setdefault(title(items.label(row)[0]), []).append(row)
    for name, of in by_column.items():
        before, after = (int(np.count_nonzero(known[of])) for known in items.known)
        yield Change(f"{items.what}s", name, None, None, before, after, after - before)
    total = [count[rows].sum(axis=1) for count in items.count]
    for i in np.argsort(-(total[0] + total[1]), kind="stable")[:n].tolist():
        column, item = items.label(int(rows[i]))
        pairs = zip(total, items.known, strict=True)
        came = [float(of[i]) if known[rows[i]] else None for of, known in pairs]
        change = float(total[1][i] - total[0][i])
        yield Change(items.what, title(column), item, None, came[0], came[1], change)


def _most(
    found: dict[tuple[str, Any, Any], Change],
    what: str,
    items: ItemsOfTwo,
    tables: tuple[Floats, Floats],
    classes: list[Any],
    n: int,
) -> dict[tuple[str, Any, Any], Change]:
    """Return what changed most, of what was found and of the items that both models have."""
    before, after = tables
    with np.errstate(invalid="ignore"):
        change = np.nan_to_num(after - before, nan=0.0, posinf=np.inf, neginf=-np.inf)
        size = np.abs(change)
        size[size <= NEGLIGIBLE * np.maximum(1.0, np.abs(before))] = 0.0
    size[~(items.known[0] & items.known[1])] = 0.0
    if what == "evidence" and len(classes) == 2 and np.allclose(change[:, 0], -change[:, 1]):
        size[:, 1] = 0.0  # of two classes, all that there are, one says it all
    flat = size.ravel()
    few = min(n, int(np.count_nonzero(flat)))
    for i in np.argpartition(-flat, few - 1)[:few].tolist() if few else ():
        row, c = divmod(i, len(classes))
        column, item = items.label(row)
        numbers = float(before[row, c]), float(after[row, c]), float(change[row, c])
        whole = what == "count" and items.what == "column"
        key = title(column), None if whole else item, classes[c]
        found[key] = Change(what, key[0], key[1], key[2], *numbers)
    return dict(sorted(found.items(), key=lambda of: -abs(of[1].change or 0.0))[:n])


def _weights(a: Weights | None, b: Weights | None, classes: list[Any], n: int) -> list[Change]:
    """Return the weights of columns, and biases of classes, that changed most."""
    if a is None or b is None:
        return []
    parts = list(dict.fromkeys([*a.of, *b.of]))
    tables = [np.vstack([w.table(parts, classes), w.bias_of(classes)]) for w in (a, b)]
    change = tables[1] - tables[0]
    order = np.argsort(-np.abs(change), axis=None, kind="stable")[:n].tolist()
    names = [*map(str, parts), None]
    return [
        Change(
            "weight" if names[row] is not None else "bias",
            names[row],
            None,
            classes[c],
            *(float(of[row, c]) for of in (*tables, change)),
        )
        for row, c in (divmod(i, len(classes)) for i in order)
        if abs(change[row, c]) > NEGLIGIBLE
    ]


# --- What the rows of a table of parameters stand for: columns, levels, words, bins --------------


Named: TypeAlias = Callable[[NDArray[np.int64]], list[Any]]  # the columns or items of some rows


class Interval(str):
    """A bin of numbers, or of times: a string, with the ends of the bin."""

    __slots__ = ("high", "low")

    low: Any
    high: Any

    @classmethod
    def of(cls, low: Any, high: Any, *, last: bool) -> Interval:
        """Make a bin; the last one of a column holds its right end."""
        begin, end = "(" if low == -np.inf else "[", "]" if last else ")"
        ends = [repr(float(f"{x:.6g}")) if isinstance(x, float) else str(x) for x in (low, high)]
        made = cls(f"{begin}{', '.join(ends)}{end}")
        made.low, made.high = low, high
        return made


def items_of(model: Model, group: Group) -> tuple[NDArray[np.int64], Named]:
    """Return the column of each row of a group's tables, (rows,), and what its rows are."""
    event, tally = group.event, model.view.counts[group.key]
    if isinstance(event, Histogram):
        of, low, high = event.bins_of(tally)
        last = np.append(of[1:] != of[:-1], True)[: len(of)]
        timed = np.array([name in model.view.schema.times for name in tally.axis.columns], np.bool_)

        def bins(rows: NDArray[np.int64]) -> list[Any]:
            return [
                Interval.of(*(end_of(x[i], timed=timed[of[i]]) for x in (low, high)), last=last[i])
                for i in rows.tolist()
            ]

        return of, bins
    facts = model.terms.facts(model.view.counts)[group.key]
    if group.kind == "missing":
        return facts.column, lambda rows: ["(missing)"] * len(rows)
    return facts.column, lambda rows: [facts.label(i)[1] for i in rows.tolist()]


def end_of(x: np.floating | float, *, timed: np.bool_ | bool) -> Any:
    """Return an end of a bin, as a time where the column holds times."""
    return np.datetime64(round(float(x)), "s").item() if timed and np.isfinite(x) else float(x)


# --- What two models say of the items of their columns: levels, words, and some numbers ----------


Labelled = Callable[[int], tuple[Name, Any]]  # the column and the item of a row
Places: TypeAlias = NDArray[np.int64]  # of the classes that both models have, in one of them


class ItemsOfTwo(Frozen):
    """Items of the same columns in two models, the tables of both in the same rows."""

    label: Labelled  # returns the column and the level, word or number of a row
    # (rows, classes): how often each came; None of a number that is not the first of its columns,
    # of which there are the same cells.
    count: tuple[Floats, Floats] | None
    evidence: tuple[Floats, Floats]  # (rows, classes): NaN where a model lacks the item
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # (rows,): which items each of them knows
    what: str  # what an item is called: "level", "word", "n-gram" or "column"


def items_of_both(a: Model, b: Model, classes: list[Any]) -> Iterator[ItemsOfTwo]:
    """Yield the items of the columns of both models, for the classes that both have."""
    places = class_codes(a, classes), class_codes(b, classes)
    for group in a.view.schema.of_columns:
        for other in b.view.schema.of_columns:
            if group.analyser != other.analyser:
                continue
            theirs = set(other.columns)
            shared = [name for name in group.columns if name in theirs]
            if shared:
                yield from _of_groups(a, group, b, other, shared, places)


def _of_groups(
    a: Model,
    group: Group,
    b: Model,
    other: Group,
    shared: list[Name],
    classes: tuple[Places, Places],
) -> Iterator[ItemsOfTwo]:
    """Yield the items of two groups, which have some columns in common."""
    two = [m.terms.facts(m.view.counts)[of.key] for m, of in ((a, group), (b, other))]
    axes = [facts.tally.axis for facts in two]
    if not all(map(len, axes)):
        return
    if not any(facts.are_columns for facts in two) and type(axes[0]) is type(axes[1]):
        joined, *places = axes[0].union(axes[1])
        every = np.arange(len(joined))
        known = [np.isin(every, every if place is None else place) for place in places]
        found = [
            _tables(model, facts, at, len(joined), some)
            for model, facts, at, some in zip((a, b), two, places, classes, strict=True)
        ]
        count, evidence = zip(*found, strict=True)
        what = "level"
        if group.analyser is not None:
            what = "word" if group.analyser.single_words else "n-gram"
        yield ItemsOfTwo(joined.label, count, evidence, (known[0], known[1]), what)
        return
    if not all(facts.are_columns for facts in two):
        return  # levels in one and numbers in the other: nothing to compare
    rows = [np.array([*map([*of.columns].index, shared)]) for of in (group, other)]
    tables = [*zip((a, b), two, rows, classes, strict=True)]
    cells = [facts.cells(some)[at] for _, facts, at, some in tables]
    of_cells: tuple[Floats, Floats] | None = (cells[0], cells[1])
    if not any(facts.has_numbers for facts in two):
        both = [_evidence(facts.terms.typical(0, at)[0], m, some) for m, facts, at, some in tables]
        yield _of_columns(shared, None, of_cells, (both[0], both[1]))
        return
    for _, facts, at, some in tables:
        for c in some.tolist():
            _, probes = facts.terms.typical(c, at)
            if probes is None:  # truths in one, numbers in the other
                break
            both = [_evidence(of.terms.at(probes, to), m, them) for m, of, to, them in tables]
            yield _of_columns(shared, probes, of_cells, (both[0], both[1]))
            of_cells = None


def _of_columns(
    columns: list[Name],
    x: Floats | None,
    count: tuple[Floats, Floats] | None,
    evidence: tuple[Floats, Floats],
) -> ItemsOfTwo:
    """Return items that are whole columns, or their values at some numbers."""
    every = np.ones(len(columns), np.bool_)

    def label(row: int) -> tuple[Name, Any]:
        return columns[row], None if x is None else float(x[row])

    return ItemsOfTwo(label, count, evidence, (every, every), "column")


def _tables(
    model: Model, facts: Facts, rows: RowMap, n: int, classes: Places
) -> tuple[Floats, Floats]:
    """Return the counts and the evidence of the items of a model, in their rows among n."""
    at = np.arange(n) if rows is None else rows
    count, evidence = np.zeros((n, len(classes))), np.full((n, len(classes)), np.nan)
    count[at] = facts.count(classes)
    evidence[at] = _evidence(facts.terms.typical(0)[0], model, classes)
    return count, evidence


def _evidence(log_p: Floats, model: Model, classes: Places) -> Floats:
    """Return the weights of evidence for some classes against all others, (items, classes)."""
    # It is NaN where there is no other class.
    if len(model.classes) < 2:
        return np.full((len(log_p), len(classes)), np.nan)
    return weights_of_each(model.terms.start, log_p)[:, classes]


# --- How far shares of cells are apart between groups of rows, and what chance makes of it --------


OUTSIDE = 0.05  # share of pairs of equal tables of which something is said to have moved
LEAST = 8.0  # rows that are expected in a cell of the smallest group, for a chi-squared test
BINS = 10  # of a column of numbers, about equally full
MISSING = "(missing)"


def jensen_shannon(share: Floats) -> float:
    """Return the divergence of distributions, (groups, cells), that weigh the same, in nats."""
    return max(0.0, _entropy(share.mean(axis=0)) - float(np.mean([_entropy(p) for p in share])))


def _entropy(p: Floats) -> float:
    return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum())


def by_chance(rows: Floats, cells: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the divergence of groups that are alike."""
    # rows (groups,): how many rows each group has; cells: how many cells have any. To second order
    # the divergence is the sum over cells of the variance of their shares between groups, over
    # twice their mean, and quadratic in deviations of variance p (1 - p) / rows. For two groups it
    # is (cells - 1) / 8 (1/n + 1/m) on average.
    groups = len(rows)
    centre = np.eye(groups) - 1 / groups
    form = centre @ np.diag(1 / rows) @ centre
    mean = (cells - 1) / (2 * groups) * np.trace(form)
    variance = 2 * (cells - 1) * np.trace(form @ form) / (2 * groups) ** 2
    return float(mean), float(np.sqrt(variance))


def holm(p: Floats) -> Floats:
    """Return p-values, (tests,), for as many tests: of no effect any is below p once in 1 / p."""
    order, found = np.argsort(p), np.empty(len(p))
    times = np.arange(len(p), 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return found


class Apart(NamedTuple):
    """How far groups of rows are apart in their shares of some cells."""

    divergence: float
    chance: float
    noise: float
    p: float
    cell: int
    before: float
    after: float

    @classmethod
    def of(cls, table: Floats, square: Floats, *, missing: bool) -> Apart:
        """Compare the weights of rows, and the sums of their squares, both (groups, cells)."""
        # Missing cells, the last if ``missing``, are tested by themselves; the others by
        # chi-squared, rare ones together, and each rare one alone. The least p is for as many tests
        # (Bonferroni).
        cells, last = np.flatnonzero(table.sum(axis=0)).tolist(), table.shape[1] - 1
        rows = _rows(table, square, [[j] for j in cells])
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        chance = by_chance(rows.sum(axis=1), len(cells))
        tests: list[tuple[float, int]] = []  # p, and the cell; -1 of all

        def test(*parts: list[int]) -> float:
            return _chance_of(_rows(table, square, parts))

        if missing and cells[-1:] == [last]:
            cells.pop()
            tests.append((test(cells, [last]), last))
        of = _rows(table, square, [[j] for j in cells])
        need = LEAST * of.sum() / max(of.sum(axis=1).min(initial=np.inf), 1e-300)
        each = dict(zip(cells, of.sum(axis=0).tolist(), strict=True))
        rare = [j for j in cells if each[j] < need] if len(cells) > 2 else []
        together, enough = [[j] for j in cells if j not in rare], True
        for j in rare:  # neighbours, until they are enough
            together = [*together, []] if enough else together
            together[-1].append(j)
            enough = sum(each[i] for i in together[-1]) >= need
        if not enough and len(together) > 1:
            together[-2:] = [together[-2] + together[-1]]
        if len(cells) > 1:
            tests.append((test(*together), -1))
            alone = [(test([i for i in cells if i != j], [j]), j) for j in rare]
            tests += [(p * len(alone), j) for p, j in [min(alone, default=(np.inf, -1))]]
        p, cell = min(tests, default=(1.0, -1))
        if cell < 0:
            cell = int(np.abs(share[-1] - share[0]).argmax())
        p = min(1.0, p * max(1, sum(p < np.inf for p, _ in tests)))
        return cls(jensen_shannon(share), *chance, p, cell, *share[[0, -1], cell].tolist())


def _rows(table: Floats, square: Floats, parts: Sequence[list[int]]) -> Floats:
    """Return how many independent rows are in each part of the cells, (groups, parts)."""
    # Rows that weigh more than others are fewer, by how much the weights differ in each part (Rao &
    # Scott, The analysis of categorical data from complex sample surveys, 1981).
    table, square = (
        np.stack([of[:, part].sum(axis=1) for part in parts] or [of[:, :0].sum(axis=1)], 1)
        for of in (table, square)
    )
    there = table.sum(axis=1) > 0
    table, square = table[there], square[there]
    total, rows = table.sum(axis=1), table.sum(axis=1) ** 2 / square.sum(axis=1)
    if len(parts) > 1:
        pooled = rows @ (table / total[:, None]) / rows.sum()
        mean = np.repeat((total / rows)[:, None], len(parts), axis=1)
        weight = np.divide(square, table, out=mean, where=table > 0)
        rows = (len(parts) - 1) * total / (weight @ (1 - pooled))
    return np.asarray(table * (rows / total)[:, None])


def _chance_of(rows: Floats) -> float:
    """Return the p-value of counts, (groups, cells), of groups that are alike."""
    # That of Pearson's chi-squared; of two cells about that of the hypergeometric distribution
    # (Wise, 1954), for both sides of each group.
    from scipy.special import betainc, gammaincc

    of_group, of_cell, n = rows.sum(axis=1), rows.sum(axis=0), rows.sum()
    if min(rows.shape) < 2 or (of_cell <= 0).any():
        return 1.0
    if rows.shape[1] > 2:
        expected = np.outer(of_group, of_cell) / n
        freedom = (len(of_group) - 1) * (len(of_cell) - 1)
        return float(gammaincc(freedom / 2, ((rows - expected) ** 2 / expected).sum() / 2))
    # Each group may have too few of a cell: too many of one are too few of the other.
    low, high = np.minimum(of_group[:, None], of_cell), np.maximum(of_group[:, None], of_cell)
    share = np.clip((high - rows / 2) / (n - (low - 1) / 2), 0.0, 1.0)
    p = betainc(np.maximum(low - rows, 1e-9), rows + 1, 1 - share)
    least = float(np.where(rows >= low, 1.0, p).min())
    return min(1.0, 2 * least * (len(rows) if len(rows) > 2 else 1))
