"""Explanations: weights of evidence, one per column, category or word, that sum to the log odds.

The weight of evidence of an item for class c against class r is log p(item | c) - log p(item | r)
(I. J. Good, Probability and the Weighing of Evidence, 1950), in nats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from naively.counting.axis import Derived, Name, Words, title
from naively.counting.block import Documents
from naively.counting.labels import Label, LabelArray
from naively.data.rows import Rows
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.model.classes import number_of
from naively.model.lines import Item, Lines, Ngram, words_of_ngrams
from naively.model.model import Model
from naively.schema.encode import plain_cell, plain_cells
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.model.images import EvidenceImage
    from naively.model.waterfall import Waterfall

PRIOR = "class prior"
INTERCEPT = "intercept"  # of the weights: what is added to the log odds of every row
OF_EVERY_ROW = (PRIOR, INTERCEPT)
UNITS = {"nats": 1.0, "bits": float(np.log(2))}
NGRAMS = "(character n-grams)"  # of a text, those that are in no word of it
LONGEST = 1_000_000  # characters, of a text that is explained

Weighed: TypeAlias = "tuple[str, object, float]"  # column, value, weight of evidence in nats


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedRow(Shown):
    """The evidence in one row: items with their log likelihood under each class.

    Parameters
    ----------
    column : list of str
        The column of each item; the first item is the class prior, and the second, where weights
        were fitted, their intercept.
    value : list
        What each item is: a word, a level, a number, a time, or None.
    log_likelihood : ndarray of shape (items, classes)
        In nats, times the weights.
    joint : ndarray of shape (classes,)
        The sum of the items: the joint log likelihood.
    classes : ndarray of shape (classes,)
        The class labels.
    columns : tuple of str
        The columns of the table, in their order.
    """

    column: list[str]
    value: list[object]
    log_likelihood: Floats
    joint: Floats
    classes: LabelArray
    columns: tuple[str, ...] = ()

    def rival(self, c: int) -> int:
        """Return the strongest class other than c."""
        others = [r for r in range(len(self.classes)) if r != c]
        return max(others, key=lambda r: self.joint[r]) if others else c

    def weights(self, c: int) -> Floats:
        """Return the weight of each item for class c against its strongest rival: (items,)."""
        with np.errstate(invalid="ignore"):
            weights = self.log_likelihood[:, c] - self.log_likelihood[:, self.rival(c)]
        return np.nan_to_num(weights, nan=0.0, posinf=np.inf, neginf=-np.inf)

    def log_odds(self, c: int) -> float:
        """Return the log odds of class c against its strongest rival; NaN of the impossible."""
        with np.errstate(invalid="ignore"):
            return float(self.joint[c] - self.joint[self.rival(c)])

    @property
    def best(self) -> int:
        """Index of the most probable class: by the prior where every class is impossible."""
        possible = np.isfinite(self.joint.max())
        return int(np.argmax(self.joint if possible else self.log_likelihood[0]))

    def probability(self, c: int) -> float:
        """Return the posterior of class c."""
        top = self.joint.max()
        p = np.exp(self.joint - top) if np.isfinite(top) else np.exp(self.log_likelihood[0])
        return float(p[c] / p.sum())

    def top(self, c: int, n: int | None = None) -> list[Weighed]:
        """Return the n items of greatest weight for or against class c, greatest first.

        What the character n-grams of a text say is shared out to the words that they are in, and
        what is said of a word more than once is one item.
        """
        weights: dict[tuple[str, str | int], float] = {}
        for i, (column, value, weight) in enumerate(
            zip(self.column, self.value, self.weights(c).tolist(), strict=True)
        ):
            of: Sequence[str | int] = (value if isinstance(value, str) else i,)
            if isinstance(value, Ngram):
                of = value.words or (NGRAMS,)
            for key in of:
                weights[column, key] = weights.get((column, key), 0.0) + weight / len(of)
        found = [
            (column, key if isinstance(key, str) else self.value[key], weight)
            for (column, key), weight in weights.items()
        ]
        return sorted(found, key=lambda item: -abs(item[2]))[:n]

    def waterfall(self, n: int = 10, label: Label | None = None) -> Waterfall:
        """Return the n items of greatest weight step by step, and all others as one step.

        They are for the class ``label``, by default the most probable one, and sum to its log odds.
        """
        from naively.model.waterfall import waterfall

        return waterfall(self, n, label)

    def plot(self, ax: Axes | None = None, n: int = 10) -> Axes:
        """Draw the weights of evidence from the class prior to the log odds, the n greatest."""
        return self.waterfall(n).plot(ax)

    def image(self, shape: tuple[int, int], label: Label | None = None) -> EvidenceImage:
        """Return the evidence of each pixel, where the columns are the pixels of an image."""
        from naively.model.images import evidence_image

        return evidence_image(self, shape, label)

    def plot_image(self, shape: tuple[int, int], ax: Axes | None = None) -> Axes:
        """Draw the evidence of each pixel for the most probable class against its rival."""
        return self.image(shape).plot(ax)

    def __str__(self) -> str:
        c = self.best
        rival = self.classes[self.rival(c)]
        names = f"{plain_cell(self.classes[c])!r} against {plain_cell(rival)!r}"
        odds, p = self.log_odds(c), self.probability(c)
        total = f"log odds {odds:.2f} (probability {p:.2f})"
        if np.isnan(odds):
            total = f"every class is impossible, so that the class prior decides ({p:.2f})"
        lines = [f"{names}: {total}"]
        both = self.log_likelihood[:, [c, self.rival(c)]]
        nowhere = np.flatnonzero(np.isneginf(both).all(axis=1)) if len(self.classes) > 1 else ()
        impossible = [shown(self.column[i], self.value[i]) for i in nowhere]
        lines += [f"    -inf  {item} (for both)" for item in impossible]
        items = ((shown(column, value), weight) for column, value, weight in self.top(c))
        lines += [f"{weight:+8.2f}  {item}" for item, weight in items if item not in impossible]
        return "\n".join(lines)


def shown(column: str, value: object) -> str:
    """Return an item as a line shows it."""
    return column if value is None else f"{column} = {plain_cell(value)}"


class EvidenceMatrix(NamedTuple):
    """The weights of evidence of rows, column by column.

    Parameters
    ----------
    columns : list of str
        The columns of the table, and after them what is said beside them: missing cells, pairs.
    weight : ndarray of shape (rows, columns)
        In nats; 0 where a column says nothing of a row.
    base : ndarray of shape (rows,)
        The class prior and the intercept, which are the same for all rows with the same rival.
        With the weights of a row it is the log odds.
    """

    columns: list[str]
    weight: Floats
    base: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabular):
    """The evidence in each of several rows; a tidy table by ``to_dict`` and ``to_frame``.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes(weights=None).fit({"wet": ["yes", "yes", "no"]}, ["rain", "rain", "sun"])
    >>> table = nb.explain({"wet": ["yes"]}).to_dict()
    >>> for i in range(len(table["row"])):
    ...     print(*(table[name][i] for name in ("row", "class", "column", "value")))
    0 rain class prior None
    0 rain wet yes
    0 sun class prior None
    0 sun wet yes
    """

    rows: list[ExplainedRow]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> ExplainedRow:
        return self.rows[row]

    def __iter__(self) -> Iterator[ExplainedRow]:
        return iter(self.rows)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.rows))

    def matrix(self, label: Label | None = None) -> EvidenceMatrix:
        """Return the weights of evidence as a matrix, rows by columns.

        Parameters
        ----------
        label : label, optional
            The class that the weights are for, against its strongest rival in each row; by default
            the most probable class of each row.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X, y = {"wet": ["yes", "yes", "no"]}, ["rain", "rain", "sun"]
        >>> columns, weight, base = NaiveBayes(weights=None).fit(X, y).explain(X).matrix("rain")
        >>> columns, weight.shape, base.round(2)
        (['wet'], (3, 1), array([0.69, 0.69, 0.69]))
        """
        named = self.rows[0].columns if self.rows else ()
        beside = (name for row in self.rows for name in row.column)
        place = {name: j for j, name in enumerate(dict.fromkeys((*named, *beside)))}
        weight, base = np.zeros((len(self.rows), len(place))), np.zeros(len(self.rows))
        for i, row in enumerate(self.rows):
            each = row.weights(number_of(row.classes, label, row.best))
            constant = [
                column in OF_EVERY_ROW and value is None
                for column, value in zip(row.column, row.value, strict=True)
            ]
            base[i] = each[constant].sum()
            for name, w, of_all in zip(row.column, each, constant, strict=True):
                weight[i, place[name]] += 0.0 if of_all else w
        said = [name for name in place if name in named or name not in OF_EVERY_ROW]
        return EvidenceMatrix(said, weight[:, [place[name] for name in said]], base)

    def to_dict(self, unit: Literal["nats", "bits"] = "nats") -> dict[str, list[Any]]:
        """Return columns row, class, against, column, value and weight.

        Parameters
        ----------
        unit : {"nats", "bits"}
            Of the weights: natural logarithms, or logarithms to base 2, of which one more doubles
            the odds.

        Notes
        -----
        The weights of one row and class sum to the log odds of the class against its rival. Pass
        the result to the frame library of your choice.
        """
        if unit not in UNITS:
            raise ValueError(f"unit must be 'nats' or 'bits', got {unit!r}.")
        table: dict[str, list[Any]] = {
            name: [] for name in ("row", "class", "against", "column", "value", "weight")
        }
        for i, row in enumerate(self.rows):
            labels = row.classes.tolist()
            for c, label in enumerate(labels):
                n = len(row.column)
                table["row"] += [i] * n
                table["class"] += [label] * n
                table["against"] += [labels[row.rival(c)]] * n
                table["column"] += row.column
                table["value"] += row.value
                table["weight"] += (row.weights(c) / UNITS[unit]).tolist()
        return table


def explain(model: Model, rows: Rows) -> Explanation:
    """Explain the prediction of each row (see ``NaiveBayes.explain``)."""
    rows = model.schema.match(rows)
    of_character_ngrams = model.schema.of_character_ngrams
    batch = model.encode(rows)
    for block in batch.blocks.values():
        if isinstance(block, Documents):
            _refuse_long(block)
    batch = batch.split()

    @cache  # an interaction shows the cells of columns that are shown themselves
    def cells(name: Name) -> Sequence[object]:
        if isinstance(name, Derived):
            return name.cells(cells)
        return plain_cells(rows.values(name)) if name in rows.names else ()

    first: list[Item] = [(PRIOR, None, model.class_log_prior)]
    if (intercept := model.intercept).any():
        first.append((INTERCEPT, None, intercept))
    lines, blocks = Lines(first, len(rows), cells), model.blocks(batch)
    for group in sorted(model.schema.groups, key=lambda group: group.kind == "missing"):
        key = group.key
        found, axis = model.likelihoods[key].itemised(blocks[key]), model.counts[key].axis
        if group.kind == "missing":
            lines.add_missing(found, axis)
        elif key in of_character_ngrams and isinstance(axis, Words):
            lines.add(found, axis, words_of_ngrams(axis, rows))
        else:
            lines.add(found, axis)
    lines.add_products(model.products(blocks))
    explained, order = [], tuple(map(title, model.schema.order))
    for of_row, joint in zip(lines.items, model.score(batch, "joint"), strict=True):
        columns, values, log_likelihoods = map(list, zip(*of_row, strict=True))
        evidence = np.stack(log_likelihoods)
        explained.append(ExplainedRow(columns, values, evidence, joint, model.classes, order))
    return Explanation(explained)


def _refuse_long(block: Documents) -> None:
    """Raise a ValueError if a text is longer than any that is explained."""
    for row, text in enumerate(block.texts):
        if isinstance(text, str) and len(text) > LONGEST:
            raise ValueError(
                f"Text {row} of column {title(block.axis.columns[0])!r} has {len(text):,} "
                f"characters; of more than {LONGEST:,} no prediction is explained."
            )
