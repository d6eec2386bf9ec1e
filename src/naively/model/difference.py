"""What two models have learned differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from naively.counting.axis import Name, title
from naively.kernels.reference import Floats
from naively.model.item_changes import Items, items_of_both
from naively.model.model import Model
from naively.model.weights import Weights
from naively.schema.group import event_names
from naively.schema.settings import Settings
from naively.tabular import Tabular

NAMES = ("what", "column", "item", "class", "before", "after", "change")
FOUND = ("weights", "interactions")  # of which it is said what came of them
NEGLIGIBLE = 1e-9  # of a count, as a share, and of evidence and weights: the rounding of sums


@dataclass(frozen=True)
class Change:
    """One thing that differs; a row of a ``Difference``."""

    what: str
    column: str | None = None
    item: Any = None
    label: Any = None
    before: Any = None
    after: Any = None
    change: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Tabular):
    """How a second model differs from a first one, as a table with a row for each difference.

    Its columns are ``what``, ``column``, ``item``, ``class``, ``before``, ``after`` and ``change``.
    ``what`` is "setting" (an option, weights, interactions, a linear part); "class" or "column",
    which only one of them has; "event model" of a column; "rows" of a class; "levels", "words" or
    "n-grams", how many only one has, and "level", "word" or "n-gram" for these, by how often it
    came; "count" of a level, a word, or the cells of a column in a class; "evidence", the weight of
    evidence of a level, a word or a number for a class against all others, in nats (of two classes,
    for the first); and "weight", the factor of a column's evidence in a class, with its "bias". Of
    counts, evidence and weights those that changed most are listed. What a model does not have is
    None.

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
        rows = [
            (c.what, c.column, c.item, c.label, c.before, c.after, c.change) for c in self.changes
        ]
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
    changes = [*_settings(a, b), *_classes(a, b), *_columns(a, b)]
    shared = [label for label in a.classes.tolist() if label in set(b.classes.tolist())]
    if shared:
        changes += _items([*items_of_both(a, b, shared)], shared, n)
        changes += _weights(a.weights, b.weights, shared, n)
    equal = not changes and _same_counts(a, b) and _same_linear_part(a.weights, b.weights)
    return Difference(tuple(changes), equal)


def _same_counts(a: Model, b: Model) -> bool:
    """Whether all that was counted is the same but for rounding."""
    if {g.key for g in a.counted.groups} != {g.key for g in b.counted.groups}:
        return False
    left, size = a.tally - b.tally, a.tally + b.tally
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
    for name in ("of", "products"):
        mine, theirs = getattr(a.linear, name), getattr(b.linear, name)
        if mine.keys() != theirs.keys() or a.classes != b.classes:
            return False
        if not all(np.allclose(mine[term], theirs[term], rtol=NEGLIGIBLE) for term in mine):
            return False
    return True


def _settings(a: Model, b: Model) -> Iterator[Change]:
    for name in (of.name for of in fields(Settings) if of.name not in FOUND):
        before, after = (_written(getattr(model.settings, name)) for model in (a, b))
        if before != after:
            yield Change("setting", item=name, before=before, after=after)
    told: dict[str, list[str | None]] = {
        "linear part": [
            str(m.weights.linear) if m.weights and m.weights.linear else None for m in (a, b)
        ],
        "weights": [None if m.weights is None else m.weights.how for m in (a, b)],
        "interactions": [", ".join(sorted(m.schema.interactions)) or None for m in (a, b)],
    }
    for name, (mine, theirs) in told.items():
        if mine != theirs:
            yield Change("setting", item=name, before=mine, after=theirs)


def _written(setting: object) -> str:
    return setting if isinstance(setting, str) else str(setting)


def _classes(a: Model, b: Model) -> Iterator[Change]:
    mine, theirs = (
        dict(zip(m.classes.tolist(), m.tally.class_count.tolist(), strict=True)) for m in (a, b)
    )
    for label in dict.fromkeys([*mine, *theirs]):
        before, after = mine.get(label), theirs.get(label)
        if before is None or after is None:
            yield Change("class", label=label, before=before, after=after)
        elif abs(after - before) > NEGLIGIBLE * max(before, after):
            yield Change("rows", label=label, before=before, after=after, change=after - before)


def _columns(a: Model, b: Model) -> Iterator[Change]:
    names: dict[Name, None] = dict.fromkeys([*a.schema.order, *b.schema.order])
    names |= dict.fromkeys([*a.schema.columns, *b.schema.columns])
    for name in names:
        before, after = (
            event_names(m.schema.groups_of[name])
            if name in m.schema.columns
            else "not learned"
            if name in m.schema.order
            else None
            for m in (a, b)
        )
        if before != after:
            what = "column" if before is None or after is None else "event model"
            yield Change(what, title(name), before=before, after=after)


def _items(every: list[Items], classes: list[Any], n: int) -> Iterator[Change]:
    for items in every:
        yield from _only_in_one(items, n)
    yield from _most("count", [(i, i.count) for i in every if i.count is not None], classes, n)
    yield from _most("evidence", [(i, i.evidence) for i in every], classes, n)


def _only_in_one(items: Items, n: int) -> Iterator[Change]:
    """Yield how many levels or words only one model has, and the most frequent of these."""
    assert items.count is not None
    rows = np.flatnonzero(items.known[0] != items.known[1])
    by_column: dict[str, list[int]] = {}
    for row in rows.tolist():
        by_column.setdefault(title(items.label(row)[0]), []).append(row)
    for name, of in by_column.items():
        before, after = (int(np.count_nonzero(known[of])) for known in items.known)
        yield Change(f"{items.what}s", name, None, None, before, after, after - before)
    total = [count[rows].sum(axis=1) for count in items.count]
    for i in np.argsort(-(total[0] + total[1]), kind="stable")[:n].tolist():
        column, item = items.label(int(rows[i]))
        came = [
            float(of[i]) if known[rows[i]] else None
            for of, known in zip(total, items.known, strict=True)
        ]
        change = float(total[1][i] - total[0][i])
        yield Change(items.what, title(column), item, None, came[0], came[1], change)


def _most(
    what: str, tables: list[tuple[Items, tuple[Floats, Floats]]], classes: list[Any], n: int
) -> Iterator[Change]:
    """Yield what changed most, of the items that both models know."""
    found: dict[tuple[str, Any, Any], Change] = {}
    for items, (before, after) in tables:
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
    yield from sorted(found.values(), key=lambda of: -abs(of.change or 0.0))[:n]


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
