"""A prediction by hand: the product of each class with its numbers put in, and its share.

Each factor of p(class) · p(x₁ | class) · p(x₂ | class) · ... is a ratio of counts, with what the
prior adds to them, a density with its numbers put in, or a number; their product is the joint
likelihood that is predicted with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from naively.counting.axis import Axis, Levels, Words, title, title_of_columns
from naively.counting.block import Block, Dense
from naively.counting.labels import LabelArray, plain_cell
from naively.data.columns import Rows
from naively.events.base import Formula, Ratios
from naively.frozen import Frozen
from naively.inspect.one_column import source_of
from naively.kernels.reference import Floats
from naively.messages import many, visible
from naively.model.class_prior import is_estimated, pretended_rows
from naively.model.model import Model
from naively.schema.encode import plain_cells
from naively.schema.schema import Group
from naively.tabular import Tabular, latex_number, latex_text
from naively.terms.kinds import ABSENT
from naively.terms.terms import GroupTerms
from naively.terms.words import length_factor

LARGEST = 10**6  # denominator of a pretend count that is read as a fraction
PLAIN = 1000  # up to which a denominator is written out
SHOWN = 12  # factors that are written; of more the first, and how many more there are
ABSENT_SHOWN = 30  # words that a text does not hold, each with a factor of its own
LARGEST_LOG = 700.0  # of a number that is a float
ROUNDING = 1e-13  # of a pretend count that is computed, relative to it
SLACK = 1e-9  # how far the logarithm of a ratio may be from what is predicted with


class Ratio(Frozen, eq=True):
    """A probability as a ratio of counts: (count + pretend) / (of + pretend_of)."""

    count: float
    pretend: float
    of: float
    pretend_of: float

    @property
    def fraction(self) -> Fraction:
        """The ratio, exact where pretend counts are such numbers as 1, 1/2 or 0.3."""
        return (_exact(self.count) + _exact(self.pretend)) / (
            _exact(self.of) + _exact(self.pretend_of)
        )

    def __str__(self) -> str:
        above, below = (_sum(*pair) for pair in self._pairs)
        return f"{above}/{below}"

    @property
    def latex(self) -> str:
        """The ratio as LaTeX."""
        above, below = (" + ".join(map(_count, of if of[1] else of[:1])) for of in self._pairs)
        return rf"\frac{{{above}}}{{{below}}}"

    @property
    def _pairs(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.count, self.pretend), (self.of, self.pretend_of)


class WorkedFactor(Frozen, eq=True):
    """What one cell, word or class prior is multiplied by in each class."""

    column: str  # its column, or "class prior"
    value: object  # the cell's value: a level, a number, a word, or None
    log: Floats  # (classes,): its logarithm, as it is predicted with, whatever its power
    ratios: list[Ratio] | None  # the ratio of counts of each class
    formulas: list[Formula] | None  # the density of each class with its numbers put in
    power: Floats  # (classes,): how often a word comes, times the weight of the column
    centred: bool = False  # whether it is over its geometric mean of the classes, by weights

    @property
    def name(self) -> str:
        """The cell, as it is asked for: "outlook = sunny"."""
        return self.column if self.value is None else f"{self.column} = {plain_cell(self.value)}"

    def fraction(self, c: int) -> Fraction | None:
        """Return the factor of a class as an exact fraction; None where it is no such number."""
        power = float(self.power[c])
        if self.ratios is None or self.centred or not power.is_integer():
            return None
        return self.ratios[c].fraction ** int(power)

    def written(self, c: int, *, latex: bool = False) -> str:
        """Return the factor of a class as text, or as LaTeX, with its power and what it is over."""
        if self.ratios is not None:
            of = self.ratios[c].latex if latex else str(self.ratios[c])
        elif self.formulas is not None:
            of = self.formulas[c].latex if latex else self.formulas[c].text
        else:
            return _written(self.log[c], latex=latex)
        if self.power[c] == 1 and not self.centred:
            return of
        power = f"{self.power[c]:.4g}"
        if latex:
            base = rf"\left({of} / g\right)" if self.centred else rf"\left({of}\right)"
            return rf"{base}^{{{power}}}"
        return f"({of} / g)^{power}" if self.centred else f"({of})^{power}"


class Worked(Tabular):
    """The product of each class, factor by factor, and the posterior that it is the share of.

    Printed, it is what one would write on a board; a notebook shows it in formulas, which
    ``to_latex`` returns. As a table it has the columns class, column, value, count, pseudo_count,
    of, pseudo_count_of, power and factor.

    Notes
    -----
    ``joint_fractions`` and ``posterior_fractions`` are exact (``fractions.Fraction``) where every
    factor is a ratio of counts. Where a model has weights, each factor is over its geometric mean g
    of the classes, and raised to the weight of its column; the joint likelihood is of these.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> X = {"wet": ["yes", "yes", "no", "yes"]}
    >>> nb = NaiveBayes.textbook("categorical", smoothing=1).fit(X, ["rain", "rain", "sun", "sun"])
    >>> nb.explain({"wet": ["yes"]})[0].worked()
    p(class) · p(wet = yes | class)
    rain: 2/4 · (2+1)/(2+2) = 3/8 = 0.375
    sun:  2/4 · (1+1)/(2+2) = 1/4 = 0.25
    their sum is 5/8 = 0.625
    p(rain | x) = 0.375 / 0.625 = 3/5 = 0.6
    p(sun | x)  = 0.25 / 0.625 = 2/5 = 0.4
    """

    classes: LabelArray
    factors: tuple[WorkedFactor, ...]
    joint: Floats  # (classes,): logarithms, as they are predicted with
    left_out: float  # the log base measure, which is the same for every class

    @cached_property
    def joint_fractions(self) -> list[Fraction] | None:
        """The product of each class, exact; None where a factor is no ratio of counts."""
        found = []
        for c in range(len(self.classes)):
            own = [factor.fraction(c) for factor in self.factors]
            if any(fraction is None for fraction in own):
                return None
            found.append(math.prod((f for f in own if f is not None), start=Fraction(1)))
        return found

    @property
    def posterior_fractions(self) -> list[Fraction] | None:
        """The posterior of each class, exact; None where there is none, or a factor is no ratio."""
        joint = self.joint_fractions
        total = sum(joint or [], Fraction(0))
        return None if joint is None or not total else [each / total for each in joint]

    @property
    def posterior(self) -> Floats:
        """The posterior of each class; where all are impossible, the class prior."""
        log = self.joint if np.isfinite(self.joint.max()) else self.factors[0].log
        p = np.exp(log - log.max())
        return np.asarray(p / p.sum())

    def to_dict(self) -> dict[str, list[Any]]:
        names = ("class", "column", "value", "count", "pseudo_count", "of", "pseudo_count_of")
        rows = []
        for c, label in enumerate(self.classes.tolist()):
            for of in self.factors:
                counts = astuple(of.ratios[c]) if of.ratios else (None,) * 4
                numbers = *counts, float(of.power[c]), _exp(of.log[c])
                rows.append((label, of.column, of.value, *numbers))
        columns = map(list, zip(*rows, strict=True))
        return dict(zip((*names, "power", "factor"), columns, strict=True))

    def __str__(self) -> str:
        labels = [visible(str(plain_cell(label))) for label in self.classes.tolist()]
        wide = max(map(len, labels))
        lines = [" · ".join(_first([_given(factor) for factor in self.factors]))]
        for c, label in enumerate(labels):
            product = " · ".join(_first([factor.written(c) for factor in self.factors]))
            lines.append(f"{label + ':':{wide + 1}} {product} = {self._value(c)}")
        if not np.isfinite(self.joint.max()):
            return "\n".join([*lines, "every class is impossible, so that the class prior decides"])
        total = _written(self._log_total)
        whole = sum(self.joint_fractions or [], Fraction(0))
        lines.append(f"their sum is {_with_fraction(whole, total)}")
        exact = self.posterior_fractions or [Fraction(0)] * len(labels)
        for c, label in enumerate(labels):
            own, p = _written(self.joint[c]), _written(self._log_posterior[c])
            name = f"p({label} | x)"
            lines.append(f"{name:{wide + 7}} = {own} / {total} = {_with_fraction(exact[c], p)}")
        return "\n".join([*lines, *self.notes])

    @property
    def notes(self) -> list[str]:
        """What is to be said beside the products, each a sentence."""
        found = []
        if any(factor.centred for factor in self.factors):
            found.append(
                "The powers are the weights of the columns; g is the geometric mean of a factor "
                "over the classes, which cancels in the posterior."
            )
        if self.left_out:
            same = _written(self.left_out)
            found.append(f"Left out, as it is the same for every class: a factor of {same}.")
        return found

    def to_latex(self) -> str:
        r"""Return the products and the posteriors as LaTeX, an ``aligned`` environment.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes.textbook("bernoulli").fit({"wet": [1, 1, 0]}, ["rain", "rain", "sun"])
        >>> print(nb.explain({"wet": [1]})[0].worked().to_latex().splitlines()[4])
        p(\text{sun} \mid x) &= \frac{0}{0.666667} = 0
        """
        labels = [latex_text(plain_cell(label)) for label in self.classes.tolist()]
        lines = []
        for c, label in enumerate(labels):
            factors = [factor.written(c, latex=True) for factor in self.factors]
            product = r" \cdot ".join(_first(factors, r"\dots"))
            lines.append(
                rf"p({label})\,p(x \mid {label}) &= {product} = {self._value(c, latex=True)}"
            )
        exact = self.posterior_fractions or [Fraction(0)] * len(labels)
        for c, label in enumerate(labels if np.isfinite(self.joint.max()) else []):
            own, total = (_written(log, latex=True) for log in (self.joint[c], self._log_total))
            p = _written(self._log_posterior[c], latex=True)
            p = _with_fraction(exact[c], p, latex=True)
            lines.append(rf"p({label} \mid x) &= \frac{{{own}}}{{{total}}} = {p}")
        body = " \\\\\n".join(lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.to_latex()}\n$$"

    def _repr_html_(self) -> None:  # type: ignore[override]
        """Return nothing, so that a notebook shows the formulas."""

    @property
    def _log_total(self) -> float:
        return float(np.logaddexp.reduce(self.joint))

    @property
    def _log_posterior(self) -> Floats:
        """The logarithms of the posterior, where any class is possible."""
        return np.asarray(self.joint - self._log_total)

    def _value(self, c: int, *, latex: bool = False) -> str:
        """Return the product of a class: as a fraction, if it is short, and as a number."""
        number = _written(self.joint[c], latex=latex)
        fractions = self.joint_fractions or [Fraction(0)] * len(self.classes)
        return _with_fraction(fractions[c], number, latex=latex)


# --- Where the factors come from: the class prior, each cell and word, and what is said beside ----


def worked(model: Model, rows: Rows) -> Worked:
    """Return the calculation of one row (see ``ExplainedRow.worked``)."""
    batch = model.encode(rows).split()
    blocks = model.terms.read(batch)
    one = np.ones(len(model.classes))
    factors, left_out = [_of_prior(model)], 0.0
    if (intercept := model.terms.intercept).any():
        factors.append(WorkedFactor("intercept", None, intercept, None, None, one))
    for group in model.view.schema.groups:
        factors += _of_group(model, group, blocks[group.key], rows)
        left_out += float(model.view.terms[group.key].log_base(blocks[group.key])[0])
    for columns, added in model.terms.together(blocks):
        if added.any():
            factors.append(WorkedFactor(title_of_columns(columns), None, added[0], None, None, one))
    seen = model.terms.of_seen(batch)
    if seen is not None and seen.any():
        factors.append(WorkedFactor("the row was seen before", None, seen[0], None, None, one))
    joint = model.terms.add(batch, "joint")[0]
    return Worked(model.classes, tuple(factors), joint, left_out)


def _of_prior(model: Model) -> WorkedFactor:
    """Return the class prior, as a ratio where it was counted."""
    log, one = model.class_log_prior, np.ones(len(model.classes))
    factor = WorkedFactor("class prior", None, log, None, None, one)
    prior, estimate = model.settings.class_prior, model.settings.estimate
    if not is_estimated(prior):
        return factor
    count = model.counted.tally.class_count[None]
    pretend = pretended_rows(prior, estimate, model.classes, model.pretend_rows)[None]
    of, more = (np.sum(part, axis=1, keepdims=True) for part in (count, pretend))
    found = Ratios.spread(count, pretend, of, more)
    return _checked(factor, _ratios(found, 0), None, log)


def _of_group(model: Model, group: Group, block: Block, rows: Rows) -> Iterator[WorkedFactor]:
    """Yield the factors of the cells and words of a block of one row."""
    tally, event = model.view.counts[group.key], group.event
    plain, weighted = model.view.terms[group.key], model.terms.of[group.key]
    _, columns, numbers = block.entries()  # of each column or word its number, code or count
    x_of = dict(zip(columns.tolist(), np.asarray(numbers, np.float64).tolist(), strict=True))
    axis = tally.axis
    beside = group.kind in ("missing", "missing as")
    ratios = None if beside else event.ratios(tally)
    weight = _weights(model, group, x_of)
    for column, item, log in _items(weighted, block, len(axis), x_of):
        name, value = _named(axis, column, item, rows)
        if beside:
            said = "missing" if item or group.kind == "missing as" else "present"
            name, value = f"{title(source_of(axis.columns[column]))} is {said}", None
        factor = WorkedFactor(name, value, log, None, None, np.ones(len(log)))
        unit = column if isinstance(axis, Levels) else ABSENT - 1 - item if item < ABSENT else item
        x = 0.0 if item < ABSENT else x_of.get(unit, 0.0)
        if item == ABSENT:  # of many words together
            yield factor
            continue
        own = formulas = None
        if ratios is not None:
            row = int(axis.first[column]) + column + item if isinstance(axis, Levels) else unit
            own = _ratios(ratios, row, rest=event.shares and x == 0)
        elif isinstance(block, Dense):
            formulas = event.formulas(tally, unit, x)
        power = np.full(len(log), x if event.joined else 1.0)
        factor = replace(factor, power=power, centred=weight is not None)
        without = plain.at(np.array([x]), np.array([unit]))[0]
        found = _checked(factor, own, formulas, without, None if weight is None else weight[unit])
        if found.power.any() or found.log.any():  # a word of weight 0, or that comes not at all
            yield found


def _items(
    terms: GroupTerms, block: Block, units: int, x_of: dict[int, float]
) -> Iterator[tuple[int, int, Floats]]:
    """Yield column, item and log factors of a row; words that are absent one by one, if few."""
    found = terms.items(block)
    few = units - len(x_of) <= ABSENT_SHOWN
    named = [ABSENT - 1 - item for item in found.item.tolist() if item < ABSENT]
    for _, column, item, log in found.each():
        if item != ABSENT or not few:
            yield column, item, log
            continue
        for unit in range(units):
            if not x_of.get(unit) and unit not in named:
                own = terms.at(np.zeros(1), np.array([unit]))[0]
                yield (column if column >= 0 else unit), ABSENT - 1 - unit, own


def _named(axis: Axis, column: int, item: int, rows: Rows) -> tuple[str, object]:
    """Return the name of a factor's column, and its cell: a word, a level or a number."""
    if item == ABSENT:
        return title(axis.columns[0]) if isinstance(axis, Words) else "columns", "(all absent)"
    if item < ABSENT:
        of, known = axis.label(ABSENT - 1 - item)
        return title(of), 0 if known is None else f"(no {known})"
    match axis:
        case Words():
            of, word = axis.label(item)
            return title(of), word
        case Levels() if item < len(axis.levels[column]):
            return title(axis.columns[column]), axis.levels[column][item]
        case Levels() if axis.columns[column] not in rows.names:
            return title(axis.columns[column]), "(never seen)"
    name = axis.columns[column]
    return title(name), plain_cells(rows.values(name))[0] if name in rows.names else None


def _weights(model: Model, group: Group, x_of: dict[int, float]) -> Floats | None:
    """Return what the evidence of each unit is multiplied by, (units, classes); None of none."""
    if model.weights is None:
        return None
    parts = model.view.parts[group.key]
    found: Floats = model.weights.table(parts.keys, model.classes.tolist())[parts.of_unit]
    if parts.by_word and group.key in model.weights.groups:
        found = found * length_factor(np.array([sum(x_of.values())]), model.length_power)
    return found


def _ratios(ratios: Ratios, row: int, *, rest: bool = False) -> list[Ratio]:
    """Return the ratio of each class in a row of the table; with ``rest``, of what is false."""
    found = [Ratio(*of_class) for of_class in zip(*(t[row].tolist() for t in ratios), strict=True)]
    if rest:
        return [Ratio(r.of - r.count, r.pretend_of - r.pretend, r.of, r.pretend_of) for r in found]
    return found


def _checked(
    factor: WorkedFactor,
    ratios: list[Ratio] | None,
    formulas: list[Formula] | None,
    without: Floats,
    weight: Floats | None = None,
) -> WorkedFactor:
    """Return a factor with its ratios or formulas, if they are what is predicted with."""
    alone = replace(factor, power=np.ones(len(factor.log)))
    if ratios is not None:
        if any(ratio.of + ratio.pretend_of <= 0 for ratio in ratios):
            return alone  # nothing was counted
        p = np.array([(r.count + r.pretend) / (r.of + r.pretend_of) for r in ratios])
        with np.errstate(divide="ignore", invalid="ignore"):
            if not _alike(np.where(factor.power == 0, 0.0, factor.power * np.log(p)), without):
                return alone
    elif formulas is None:
        return alone
    expected = without if weight is None else weight * (without - without.mean())
    if not _alike(expected, factor.log):
        return alone
    power = factor.power if weight is None else factor.power * weight
    return replace(factor, ratios=ratios, formulas=formulas, power=power)


def _alike(a: Floats, b: Floats) -> bool:
    return bool(np.allclose(a, b, rtol=SLACK, atol=SLACK))


# --- Numbers and their names ---------------------------------------------------------------------


def _exact(x: float) -> Fraction:
    """Return the simple fraction that a float stands for: 3/10 of 0.3; of any other, itself."""
    simple = Fraction(x).limit_denominator(LARGEST)
    return simple if math.isclose(simple, x, rel_tol=ROUNDING) else Fraction(x)


def _exp(log: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(log))


def _written(log: float, *, latex: bool = False) -> str:
    """Return the number of a logarithm in six digits, however large or small it is."""
    text = f"{_exp(log):.6g}"
    if np.isfinite(log) and abs(log) > LARGEST_LOG:
        power = math.floor(log / math.log(10))
        digits = math.exp(log - power * math.log(10))
        text = f"{digits:.6g}e{power:+d}"
    return latex_number(text) if latex else text


def _count(x: float) -> str:
    return f"{x:.10g}" if _exact(x).denominator <= PLAIN else f"{x:.4g}"


def _sum(count: float, pretend: float) -> str:
    """Return a count with what is added to it, in brackets."""
    if not pretend:
        return _count(count)
    return f"({_count(count)}{'+' if pretend > 0 else '-'}{_count(abs(pretend))})"


def _with_fraction(fraction: Fraction, number: str, *, latex: bool = False) -> str:
    """Return a number, after its fraction where that is short and no whole number."""
    if not fraction or fraction.denominator == 1 or fraction.denominator > LARGEST:
        return number
    of = f"{fraction.numerator}/{fraction.denominator}"
    if latex:
        of = rf"\frac{{{fraction.numerator}}}{{{fraction.denominator}}}"
    return f"{of} = {number}"


def _given(factor: WorkedFactor) -> str:
    """Return what a factor is of: p(class), or p(wet = yes | class)."""
    name = visible(factor.name)
    if factor.column == "class prior" and factor.value is None:
        return "p(class)"
    return f"({name})" if factor.value is None else f"p({name} | class)"


def _first(factors: Sequence[str], dots: str = "...") -> list[str]:
    """Return the factors that are written, and how many more there are."""
    if len(factors) <= SHOWN + 1:
        return [*factors]
    rest = many(len(factors) - SHOWN, "more factor")
    return [*factors[:SHOWN], f"{dots} ({rest})" if dots == "..." else dots]
