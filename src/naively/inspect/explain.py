"""Why: the lines of a row, whose weights sum to the log odds; drawn as a waterfall or an image."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from naively.counting.axis import (
    PRESENT,
    VALUE,
    Axis,
    Cells,
    DerivedLevels,
    Levels,
    Name,
    Words,
    title,
    title_of_columns,
)
from naively.counting.block import Batch, Block, BlockKey, Documents
from naively.counting.labels import Label, LabelArray, plain_cell
from naively.counting.tally import BlockTally
from naively.data.columns import Rows
from naively.frozen import Frozen
from naively.inspect.rules import Conditions, number_in_words, rules_of_rows
from naively.inspect.uncertainty import ProbabilityIntervals
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.kernels.tokens import character_ngrams, splitter
from naively.messages import Shown, many, visible
from naively.model.class_prior import Cost, cost_table, number_of
from naively.model.model import Model
from naively.schema.encode import plain_cells
from naively.schema.schema import Group
from naively.tabular import Drawn, Tabular, are_numbers, crossed, picture
from naively.terms.functions import CombinedTerms, ProductTerms, RuleTerms
from naively.terms.kinds import ABSENT, Items
from naively.terms.seen import Sight
from naively.terms.terms import Terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.inspect.worked import Worked

# --- Explanations: weights of evidence, by column, level or word, that sum to the log odds -------
#
# The weight of evidence of an item for class c against class r is log p(item | c) - log p(item |
# r) (I. J. Good, Probability and the Weighing of Evidence, 1950), in nats.


PRIOR = "class prior"
INTERCEPT = "intercept"  # of the weights: what is added to the log odds of every row
OF_EVERY_ROW = (PRIOR, INTERCEPT)
UNITS = {"nats": 1.0, "bits": float(np.log(2))}
NGRAMS = "(character n-grams)"  # of a text, those that are in no word of it
LONGEST = 1_000_000  # characters, of a text that is explained
DIGITS = 6  # of a number that is made of two

Weighed: TypeAlias = "tuple[str, object, float]"  # column, value, weight of evidence in nats


class ExplainedRow(Shown, Frozen):
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
    intervals : ProbabilityIntervals, optional
        Intervals of the probabilities of the row, if they were asked for.
    source : tuple of Model, Rows and int, optional
        The model, the rows, and which of them it is: what ``worked`` is of.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    cost : ndarray of shape (right classes, answers), optional
        What each answer costs, if that was given.
    """

    column: list[str]
    value: list[object]
    log_likelihood: Floats
    joint: Floats
    classes: LabelArray
    columns: tuple[str, ...] = ()
    intervals: ProbabilityIntervals | None = None
    source: tuple[Model, Rows, int] | None = None
    target: str = ""
    cost: Floats | None = None

    def worked(self) -> Worked:
        """Return the prediction by hand: the product of each class with its numbers put in.

        Returns
        -------
        worked : Worked
            Ratios of counts as fractions, densities with their numbers, the products, and the
            posterior; it prints as text and, in a notebook, as formulas (``to_latex``).

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes.textbook("categorical")
        >>> nb = nb.fit({"sky": ["blue", "grey", "grey"]}, ["sun", "sun", "rain"])
        >>> nb.explain({"sky": ["grey"]})[0].worked()
        p(class) · p(sky = grey | class)
        rain: 1/3 · 1/1 = 1/3 = 0.333333
        sun:  2/3 · 1/2 = 1/3 = 0.333333
        their sum is 2/3 = 0.666667
        p(rain | x) = 0.333333 / 0.666667 = 1/2 = 0.5
        p(sun | x)  = 0.333333 / 0.666667 = 1/2 = 0.5
        """
        from naively.inspect.worked import worked

        assert self.source is not None
        model, rows, i = self.source
        return worked(model, rows.take(slice(i, i + 1)))

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
        """Index of the answer: the most probable class, or, with costs, that of least cost."""
        shares = self._log_shares
        return int(np.argmax(shares if self.cost is None else -np.exp(shares) @ self.cost))

    @property
    def most_probable(self) -> int:
        """Index of the most probable class: by the prior where every class is impossible."""
        return int(np.argmax(self._log_shares))

    @property
    def _log_shares(self) -> Floats:
        """The logarithms of what the posteriors are in proportion to, (classes,)."""
        top = self.joint.max()
        shares: Floats = self.joint - top if np.isfinite(top) else self.log_likelihood[0]
        return shares

    def probability(self, c: int) -> float:
        """Return the posterior of class c."""
        p = np.exp(self._log_shares)
        return float(p[c] / p.sum())

    def under(self, prior: Floats, other: Floats) -> ExplainedRow:
        """Return the row under another class prior than that of the model: (classes,) each."""
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.where(prior > 0, np.log(other) - np.log(prior), 0.0)
        evidence = self.log_likelihood.copy()
        evidence[0] += more
        return replace(self, log_likelihood=evidence, joint=self.joint + more)

    def top(self, c: int, n: int | None = None) -> list[Weighed]:
        """Return the n items of greatest weight for or against class c, greatest first.

        The evidence of character n-grams of a text is divided among the words that they are in, and
        all evidence of one word is one item.
        """
        weights: dict[tuple[str, str | int], float] = {}
        for i, (column, value, weight) in enumerate(
            zip(self.column, self.value, self.weights(c).tolist(), strict=True)
        ):
            of: Sequence[str | int] = (i,)
            match value:
                case Ngram():
                    of = value.words or (NGRAMS,)
                case str():
                    of = (value,)
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
        if n < 1:
            raise ValueError(f"n must be at least 1, the items that are drawn, got {n}.")
        c, labels = number_of(self.classes, label, self.best), self.classes.tolist()
        items = self.top(c)
        of_every_row = [(PRIOR, None), (INTERCEPT, None)]
        others = [item for item in items if item[:2] not in of_every_row]
        first, rest = others[:n], others[n:]
        steps = [
            *((item[0], item[2]) for first in of_every_row for item in items if item[:2] == first),
            *((shown(column, _short(value)), weight) for column, value, weight in first),
        ]
        if rest:
            with np.errstate(invalid="ignore"):
                of_rest = float(np.sum([weight for *_, weight in rest]))
            steps.append((f"other ({many(len(rest), 'item')})", of_rest))
        return Waterfall(
            labels[c],
            labels[self.rival(c)],
            [item for item, _ in steps],
            [float(weight) for _, weight in steps],
            self.log_odds(c),
            self.probability(c),
            "" if self.intervals is None else self.intervals.sentence(0, self.classes.tolist()[c]),
            None if self.intervals is None else self.intervals.around(self.log_odds(c), c),
            self.target,
        )

    def plot(self, ax: Axes | None = None, n: int = 10) -> Axes:
        """Draw the weights of evidence from the class prior to the log odds, the n greatest."""
        return self.waterfall(n).plot(ax)

    def image(self, shape: tuple[int, int], label: Label | None = None) -> EvidenceImage:
        """Return the evidence of each pixel, where the columns are the pixels of an image."""
        check_shape(shape, len(self.columns))
        c, labels = number_of(self.classes, label, self.best), self.classes.tolist()
        place = {name: i for i, name in enumerate(self.columns)}
        pixel, elsewhere = np.zeros(len(place)), 0.0
        for column, weight in zip(self.column[1:], self.weights(c).tolist()[1:], strict=True):
            if column in place:
                pixel[place[column]] += weight
            else:
                elsewhere += weight
        prior = float(self.weights(c)[0])
        both = labels[c], labels[self.rival(c)]
        return EvidenceImage(*both, pixel.reshape(shape), elsewhere + prior, self.target)

    def plot_image(self, shape: tuple[int, int], ax: Axes | None = None) -> Axes:
        """Draw the evidence of each pixel for the most probable class against its rival."""
        return self.image(shape).plot(ax)

    def __str__(self) -> str:
        c = self.best
        rival = self.classes[self.rival(c)]
        names = f"{plain_cell(self.classes[c])!r} against {plain_cell(rival)!r}"
        odds, p = self.log_odds(c), self.probability(c)
        most = plain_cell(self.classes[self.most_probable])
        why = "" if c == self.most_probable else f"; of least cost, most probable: {most!r}"
        total = f"log odds {odds:.2f} (probability {of_all_and_two(odds, p)}{why})"
        if np.isnan(odds):
            total = f"every class is impossible, so that the class prior decides ({p:.2f})"
        lines = [f"{names}: {total}"]
        if self.intervals is not None:
            lines.append(self.intervals.sentence(0, self.classes.tolist()[c]))
        both = self.log_likelihood[:, [c, self.rival(c)]]
        nowhere = np.flatnonzero(np.isneginf(both).all(axis=1)) if len(self.classes) > 1 else ()
        impossible = [shown(self.column[i], self.value[i]) for i in nowhere]
        lines += [f"    -inf  {item} (for both)" for item in impossible]
        items = ((shown(column, value), weight) for column, value, weight in self.top(c))
        lines += [f"{weight:+8.2f}  {item}" for item, weight in items if item not in impossible]
        return "\n".join(lines)


def of_all_and_two(log_odds: float, probability: float) -> str:
    """Write a probability, and that which the log odds of two classes are, if it is another."""
    with np.errstate(over="ignore"):
        of_all, of_two = f"{probability:.2f}", f"{1 / (1 + np.exp(-log_odds)):.2f}"
    return of_all if of_all == of_two else f"{of_all}, of the two {of_two}"


def shown(column: str, value: object) -> str:
    """Return an item as a line shows it."""
    if isinstance(value, Conditions):
        return str(value)
    if isinstance(value, Sight):
        return f"{column} was {value}"
    return column if value is None else f"{column} = {plain_cell(value)}"


class EvidenceMatrix(NamedTuple):
    """The weights of evidence of rows, column by column.

    Parameters
    ----------
    columns : list of str
        The columns of the table, followed by missing cells, products and rules.
    weight : ndarray of shape (rows, columns)
        In nats; 0 if a column has no evidence in a row.
    base : ndarray of shape (rows,)
        The class prior and the intercept, which are the same for all rows with the same rival.
        With the weights of a row it is the log odds.
    """

    columns: list[str]
    weight: Floats
    base: Floats


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

    def plot(self, ax: Axes | None = None, n: int = 10, label: Label | None = None) -> Axes:
        """Draw the weights of evidence as a table, rows by the n columns with most evidence."""
        return picture(self, ax, n=n, label=label)

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


def explain(
    model: Model,
    rows: Rows,
    intervals: ProbabilityIntervals | None = None,
    target: str = "",
    cost: Cost = None,
) -> Explanation:
    """Explain the prediction of each row (see ``NaiveBayes.explain``), with intervals if given."""
    table = None if cost is None else cost_table(cost, model.classes)
    rows = model.view.schema.match(rows)
    batch, terms = model.encode(rows), model.terms
    _refuse_long(batch)
    batch = batch.split()
    blocks = terms.read(batch)

    @cache  # a product shows the cells of columns that are shown themselves
    def cells(name: Name) -> Sequence[object]:
        if isinstance(name, DerivedLevels):
            return name.cells(cells)
        return plain_cells(rows.values(name)) if name in rows.names else ()

    first: Lines = {(PRIOR,): (PRIOR, None, terms.log_prior)}
    if terms.intercept.any():
        first[INTERCEPT,] = INTERCEPT, None, terms.intercept
    lines = [first.copy() for _ in range(len(rows))]
    for group in sorted(model.view.schema.groups, key=lambda of: LAST.get(of.kind, 0)):
        axis, items = model.view.axes[group.key], terms.of[group.key].items(blocks[group.key])
        match axis:
            case _ if group.kind in LAST:
                _add_presence(lines, items, group, rows.words)
            case Words():
                of_ngrams = group.key in model.view.schema.of_character_ngrams
                _add_words(lines, items, axis, words_of_ngrams(axis, rows) if of_ngrams else None)
            case _:
                _add_cells(lines, items, axis, cells)
    _add_several(lines, terms, blocks, cells)
    _add_seen(lines, model, batch)
    explained, order = [], tuple(map(title, model.view.schema.order))
    joints = terms.add(batch, "joint")
    for i, (of_row, joint) in enumerate(zip(lines, joints, strict=True)):
        columns, values, log_likelihoods = map(list, zip(*of_row.values(), strict=True))
        evidence = np.stack(log_likelihoods)
        sure = None if intervals is None else intervals.row(i)
        of_model = joint, model.classes, order, sure, (model, rows, i), target, table
        explained.append(ExplainedRow(columns, values, evidence, *of_model))
    return Explanation(explained)


def _add_words(
    lines: list[Lines], items: Items, axis: Words, words_of: list[dict[str, tuple[str, ...]]] | None
) -> None:
    """Add a line for each word; of character n-grams it knows the words that these are in."""
    column = title(axis.columns[0])
    for row, _, item, value in items.each():
        shown: object = ALL_ABSENT
        if item < ABSENT:
            shown = f"(no {axis.label(ABSENT - 1 - item)[1]})"
        elif item > ABSENT:
            shown = axis.label(item)[1]
            if words_of is not None:
                shown = Ngram(shown)
                shown.words = words_of[row].get(shown, ())
        lines[row][len(lines[row]), "word"] = column, shown, value


def _add_cells(
    lines: list[Lines], items: Items, axis: Axis, cells: Callable[[Name], Sequence[object]]
) -> None:
    """Add a line for each cell, and one for all numbers that are 0 and not stored."""
    for row, column, item, value in items.each():
        if column == ABSENT:
            _put(lines[row], ABSENT, ("columns", ALL_ABSENT, value))
            continue
        name = axis.columns[column]
        shown: object = 0
        if item >= 0 and (of_column := cells(name)):
            shown = of_column[row]
        elif item >= 0:  # of several columns as one
            known = axis.levels_of(column)
            shown = known[item] if item < len(known) else "(never seen)"
        _put(lines[row], name, (title(name), shown, value))


def _add_presence(
    lines: list[Lines], items: Items, group: Group, words: Mapping[Name, Strings]
) -> None:
    """Add what it says that cells are missing, and as which words, and that others are there."""
    # That a cell is there joins the line of its column, or that of all absent columns if the cell
    # is a 0 that is not stored. A text has no such line.
    for row, column, item, value in items.each():
        (of,), place = group.derived[column].sources, lines[row]
        if item or group.kind == "missing as":
            word = words[of][row] if of in words else None
            line = (f"{title(of)} is missing", None) if word is None else (title(of), word)
            _put(lines[row], (of, "missing"), (*line, value))
        else:
            key = ABSENT if ABSENT in place and of not in place else of
            _put(lines[row], key, (f"{title(of)} is present", None, value))


def _add_several(
    lines: list[Lines],
    terms: Terms,
    blocks: Mapping[BlockKey, Block],
    cells: Callable[[Name], Sequence[object]],
) -> None:
    """Add what is said of several columns at a time: products, and rules in words."""
    for several in terms.several:
        match several:
            case ProductTerms():
                for pair, products in several.by_columns():
                    shown = [*zip(*map(cells, pair), strict=False)]
                    _put_together(
                        lines, (frozenset(pair), "product"), pair, shown, products.added(blocks)
                    )
            case RuleTerms():
                for names, said, added in rules_of_rows(several, blocks):
                    _put_together(lines, "rules", names, said, added)
            case CombinedTerms():
                for names, some in several.by_columns():
                    numbers = _numbers_made(some, blocks)
                    _put_together(lines, "combined", names, numbers, some.added(blocks))


def _numbers_made(of: CombinedTerms, blocks: Mapping[BlockKey, Block]) -> list[float | str]:
    """Return the numbers of a column that is made of two; of two times they are durations."""
    ((key, name),), x = of.columns, of.cells(blocks)[:, 0].tolist()
    if key.kind == "time":
        said = number_in_words(key, name)
        return ["" if each != each else said(each) for each in x]  # noqa: PLR0124
    return [float(f"{each:.{DIGITS}g}") for each in x]


def _put_together(
    lines: list[Lines],
    what: Hashable,
    names: Sequence[Name],
    shown: Sequence[object],
    added: Floats,
) -> None:
    """Add what columns say together, (rows, classes), in rows where that is something."""
    for row in np.flatnonzero(added.any(axis=1)).tolist():
        line = title_of_columns(names), shown[row], added[row]
        _put(lines[row], (frozenset(names), what), line)


def _add_seen(lines: list[Lines], model: Model, batch: Batch) -> None:
    """Add how often the very row, or text, was seen before."""
    seen, every = model.terms.seen, model.terms.of_seen(batch)
    if seen is None or every is None:
        return
    groups = model.view.schema.groups
    what = f"this very {'text' if groups and all(of.analyser for of in groups) else 'row'}"
    labels, copies = model.classes.tolist(), seen.seen.of(seen.read(batch))
    for line, row, added in zip(lines, copies, every, strict=True):
        if sight := Sight.of(row, labels):
            line[what] = what, sight, added


def _refuse_long(batch: Batch) -> None:
    """Raise a ValueError if a text is longer than any that is explained."""
    for block in batch.blocks.values():
        for row, text in enumerate(block.texts if isinstance(block, Documents) else ()):
            if isinstance(text, str) and len(text) > LONGEST:
                raise ValueError(
                    f"Text {row} of column {title(block.axis.columns[0])!r} has {len(text):,} "
                    f"characters; of more than {LONGEST:,} no prediction is explained."
                )


# --- Models of pixels as images: the mean of each class, and the evidence of each pixel ----------


NO_PIXEL = "holds no numbers, so it is no pixel."


class ClassImages(Drawn):
    """The mean image of each class.

    Parameters
    ----------
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    mean : ndarray of shape (classes, height, width)
        The mean of each pixel over the rows of the class where it is not missing; NaN where it
        always is. It is computed from what was counted: of a histogram from its cells.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    classes: list[Label]
    class_count: Floats
    mean: Floats
    target: str = ""

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, row, column and mean, one row a pixel and class."""
        _, height, width = self.mean.shape
        axes = {"class": self.classes}, {"row": range(height)}, {"column": range(width)}
        return crossed(axes, {"mean": self.mean})

    def __str__(self) -> str:
        k, height, width = self.mean.shape
        finite = self.mean[np.isfinite(self.mean)]
        least, most = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        return f"mean images of {k:,} classes, {height} × {width}: from {least:.4g} to {most:.4g}"


class EvidenceImage(Drawn):
    """The weight of evidence of each pixel of a row.

    Parameters
    ----------
    label, against : label
        The class that is spoken for, and its strongest rival.
    weight : ndarray of shape (height, width)
        In nats: positive for the class; 0 of what is missing.
    elsewhere : float
        The weight of the class prior, of other columns, and of missing pixels. With the pixels it
        sums to the log odds.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    label: Label
    against: Label
    weight: Floats
    elsewhere: float
    target: str = ""

    @property
    def log_odds(self) -> float:
        """The log odds of the class against its rival, in nats."""
        return float(self.weight.sum() + self.elsewhere)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns row, column and weight, one row a pixel."""
        row, column = (index.ravel().tolist() for index in np.indices(self.weight.shape))
        return {"row": row, "column": column, "weight": self.weight.ravel().tolist()}

    def __str__(self) -> str:
        height, width = self.weight.shape
        names = f"{self.label!r} against {self.against!r}"
        of = f"evidence of {height} × {width} pixels {self.weight.sum():+.2f}"
        return visible(f"{names}: {of}, all else {self.elsewhere:+.2f} nats")


def class_images(model: Model, shape: tuple[int, int]) -> ClassImages:
    """Return the mean image of each class (see ``nb.inspect.images``)."""
    order = list(model.view.schema.order)
    check_shape(shape, len(order))
    mean = np.full((len(model.classes), len(order)), np.nan)
    place = {name: i for i, name in enumerate(order)}
    for group in model.view.schema.of_columns:
        tally = model.view.counts[group.key]
        if group.analyser or group.event.layout == "rows":
            raise ValueError(f"Column {title(group.columns[0])!r} {NO_PIXEL}")
        for name, of_class in zip(tally.axis.columns, _means(model, tally), strict=True):
            if name in place:  # no part of a time
                mean[:, place[name]] = of_class
    count = model.counted.tally.class_count
    return ClassImages(model.classes.tolist(), count, mean.reshape(-1, *shape))


def _means(model: Model, tally: BlockTally) -> Floats:
    """Return the mean of each column in each class, (columns, classes)."""
    axis, sums = tally.axis, tally.sums
    with np.errstate(invalid="ignore", divide="ignore"):
        match axis:
            case Cells():
                values = axis.middle
            case Levels():
                for name, levels in zip(axis.columns, axis.levels, strict=True):
                    if not are_numbers(levels):
                        raise ValueError(f"Column {title(name)!r} {NO_PIXEL}")
                values = np.array([float(level) for of in axis.levels for level in of])
            case _:
                rows = tally[PRESENT].high if PRESENT in sums else model.counted.tally.class_count
                return np.asarray(tally[VALUE].high / rows)
        count = tally[axis.statistic].high
        found = [
            values[start:end] @ count[start:end] / count[start:end].sum(axis=0)
            for start, end in pairwise(axis.first)
        ]
        return np.array(found).reshape(-1, count.shape[1])


def check_shape(shape: Sequence[int], columns: int) -> None:
    """Raise a ValueError unless an image of this shape has as many pixels as there are columns."""
    if len(shape) != 2 or any(n < 1 for n in shape) or prod(shape) != columns:
        raise ValueError(
            f"An image of shape {tuple(shape)} has {prod(shape):,} pixels, but the model has "
            f"{columns:,} columns; give a (height, width) that fits."
        )


# --- The lines of an explanation: what each column and each word of a row says -------------------


LAST = {"missing as": 1, "missing": 2}  # kinds of columns whose lines join those of others
ALL_ABSENT = "(all that is absent)"
FEW_WORDS = 16  # in a token; of more, a character n-gram that is in none of them is not theirs

Item: TypeAlias = "tuple[str, object, Floats]"  # column, value, log likelihoods (classes,)


class Ngram(str):
    """A character n-gram of a text whose words are counted too, and the words that it is in."""

    __slots__ = ("words",)

    words: tuple[str, ...]


# The lines of a row by what they are of. What is said of a number or a level more than once is one
# line, and so is what is said of the same columns.
Lines: TypeAlias = "dict[Hashable, Item]"


def _put(lines: Lines, key: Hashable, line: Item) -> None:
    """Add a line, or its log likelihoods to those of the line of the same key."""
    if key in lines:
        column, shown, value = lines[key]
        line = column, shown, value + line[2]
    lines[key] = line


def words_of_ngrams(axis: Words, rows: Rows) -> list[dict[str, tuple[str, ...]]]:
    """Return the words that each character n-gram of a text is in, or that are in it, by text."""
    options = {key: value for key, value in axis.analyser.splitting.items() if key != "features"}
    lower, of_character_ngrams = options["lowercase"], splitter(**options)
    of_words = splitter("word", (1, 1), lower, ())
    found = []
    for text in axis.analyser.rows(rows.values(axis.columns[0]).tolist()):
        words: dict[str, dict[str, None]] = {}
        for token in text.split() if isinstance(text, str) else ():
            inner = of_words(token) or [token.lower() if lower else token]
            holders = _holders(inner, options["ngram_range"][1])
            beside = inner if len(inner) <= FEW_WORDS else ()
            for ngram in dict.fromkeys(of_character_ngrams(token)):
                plain = ngram.strip()
                near = holders.get(plain) or [word for word in inner if word in plain] or beside
                words.setdefault(ngram, {}).update(dict.fromkeys(near))
        found.append({ngram: tuple(of) for ngram, of in words.items()})
    return found


def _holders(words: list[str], longest: int) -> dict[str, dict[str, None]]:
    """Return the words that each character n-gram is in, of n up to the longest."""
    found: dict[str, dict[str, None]] = {}
    for word in dict.fromkeys(words):
        for ngram in character_ngrams(word, 1, longest):
            found.setdefault(ngram, {})[word] = None
    return found


# --- The evidence in a row, step by step: from the prior's log odds to the total -----------------


class Waterfall(Drawn):
    """Weights of evidence that are added up, one step after the other.

    Parameters
    ----------
    label, against : label
        The class that is spoken for, and its strongest rival.
    item : list of str
        What each step is: the class prior, the items of greatest weight, and all others as one.
    weight : list of float
        The weight of each step in nats; they sum to the log odds.
    log_odds : float
        Of the class against its rival; NaN where both are impossible.
    probability : float
        The posterior of the class among all classes.
    sure : str
        The probability and its interval, in words; "" if that was not asked.
    ends : tuple of float, optional
        The ends of the interval as log odds: as far from the total as the log odds of the class
        against all others would move.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    label: Label
    against: Label
    item: list[str]
    weight: list[float]
    log_odds: float
    probability: float
    sure: str = ""
    ends: tuple[float, float] | None = None
    target: str = ""

    TABLE = ("item", "weight", "start")

    @property
    def start(self) -> list[float]:
        """Where each step begins: the sum of those before it, in nats."""
        with np.errstate(invalid="ignore"):
            ends: list[float] = np.cumsum([0.0, *self.weight])[:-1].tolist()
        return ends

    @property
    def heading(self) -> str:
        """The classes, the log odds and the probability, in one line."""
        names = f"{self.label!r} against {self.against!r}"
        if np.isnan(self.log_odds):
            return visible(f"{names}: every class is impossible, so that the class prior decides")
        probability = of_all_and_two(self.log_odds, self.probability)
        return visible(f"{names}: log odds {self.log_odds:.2f} nats, probability {probability}")

    def __str__(self) -> str:
        steps = zip(self.item, self.weight, strict=True)
        heading = [self.heading, *filter(None, [self.sure])]
        return "\n".join([*heading, *(f"{w:+8.2f}  {visible(item)}" for item, w in steps)])


def _short(value: object) -> object:
    """Return a number with as many digits as a picture has room for."""
    value = plain_cell(value)
    return f"{value:.6g}" if isinstance(value, float) else value
