"""What is sought beside the evidence: slopes of functions, steps, products and rules that gain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, Level, Name, title
from naively.counting.block import Batch, BlockKey, Codes, Dense, joined, numbers_of
from naively.counting.labels import Labels
from naively.counting.leave_one_out import Part
from naively.events import Bernoulli
from naively.events.histogram import between
from naively.fitting.combine import OPERANDS, Candidates, Found, Operand
from naively.fitting.leave_one_out import LeaveOneOut
from naively.fitting.limits import (
    MOST_RULES,
    GivenRule,
    Limits,
    known_columns,
    read_combined,
    read_rule,
)
from naively.fitting.names import Values, named
from naively.fitting.weights import (
    THIRDS,
    Chosen,
    Passes,
    Third,
    choose_ridge,
    joint_with,
    mean,
    of_classes,
    one_weight,
    posterior,
    ridges_of,
    solve,
)
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.rules import Grown
from naively.kernels.search import Singles
from naively.model.model import Model, Weights
from naively.schema.schema import Group
from naively.terms.functions import (
    FARTHEST,
    NEITHER,
    NOTHING,
    Above,
    Condition,
    Is,
    Line,
    LinearPart,
    OneOf,
    Product,
    Rule,
    Step,
    Term,
    There,
)

# --- What is added to the weighted evidence of the columns ---------------------------------------
#
# First slopes of functions of one column, by ridge; with interactions, products of two of them as
# well. Then rules, grown on what these leave unsaid: steps of one column, or with interactions
# decision tables of a few. Each is added where it lowers the log loss of held-out thirds of the
# rows, of the first of them if they are many, and is then fitted to all rows.


COLUMNS = 100  # that products and rules are made of, those that say most
ROUNDING = 1e-9
Said: TypeAlias = Callable[[], Mapping[Part, float]]  # how much evidence each part gives
C = TypeVar("C")  # what a column is named by
Make: TypeAlias = "Callable[[], Line | Step]"  # a function of a column, once it is chosen
# A column, the group and the block that it is in, and its number there.
Column: TypeAlias = "tuple[Part, Group, Dense | Codes, int]"


class Weighed(Frozen):
    """Rows of a sample, as the weights of the columns say."""

    model: Model  # with weights that are all 1
    weights: Weights  # those that were fitted
    found: LeaveOneOut  # the table of the rows, or of the first of them
    batches: Sequence[Batch]  # all rows, as the model encodes them
    labels: Labels  # of all rows
    joint: Floats  # (rows, classes): weighted joint log likelihoods, each row left out
    thirds: Iterator[Third]  # of the first rows; of few rows all three
    fifths: Iterator[tuple[Third, Floats]]  # of few rows, each with the log class prior of the rows
    are_copied: bool  # whether they look as if they were: no third is without copies of the others


def seek(rows: Weighed, limits: Limits | None = None) -> tuple[LinearPart, float, float, float]:
    """Return what lowers the log loss of held-out rows, a temperature of all, and that loss."""
    # The loss is in nats per row, without and with what it is lowered by.
    labels, parts = rows.labels, rows.found.parts
    if labels.group is not None and len(np.unique(labels.group)) < THIRDS:
        return NOTHING, 1.0, 0.0, 0.0

    @cache
    def said() -> dict[Part, float]:
        """Return how much evidence each part gives, on average."""
        weight, table = np.abs(rows.weights.table(parts, rows.weights.classes)), rows.found.table
        size = max(1, TOGETHER // max(1, table[:1].size))
        some = (table[at : at + size] for at in range(0, len(parts), size))
        each = np.concatenate([np.abs(of).mean(axis=1) for of in some]) * weight
        return dict(zip(parts, each.mean(axis=1).tolist(), strict=True))

    columns = columns_of(rows.model, rows.batches)
    basis, cut = basis_of(columns, said, labels), cut_of(columns, said, labels, limits)
    given = Given.of(rows, limits) if limits is not None and limits.given else None
    sought: dict[Operand, Floats] = {}
    if rows.model.settings.derived == "auto" and not rows.are_copied:
        free = {of for of, sign in zip(cut.parts, cut.signs, strict=True) if not sign}
        sought = numbers_of_columns(columns, rows.model, free)
    elif rows.model.settings.derived not in ("auto", None):
        numbers = numbers_of_columns(columns, rows.model)
        found = combined_as_given(rows.model, numbers, limits)
        cut = with_combined(cut, found, making(numbers, labels))
    if not (basis.terms or cut.parts or given):
        return NOTHING, temperature_of(rows, basis.shared, None), 0.0, 0.0
    thirds, weight = [*rows.thirds], labels.weights
    held = sum(float(weight[third.held].sum()) for third in thirds)
    some = labels.take(np.arange(len(thirds[0].joint)))
    # Which columns say most was found on all rows, those held out too: the more there were to
    # choose from, and the fewer rows, the more has to be gained.
    ridges, enough = ridges_of(some, len(parts)), basis.passed_over / len(some)
    z = np.vstack([basis.shared, np.ones((1, len(labels)))])  # a last slope is the intercept
    best = choose_ridge([z] * len(thirds), thirds, some, ridges, enough)
    of_all = temperature_of(rows, z, best.ridge)
    before, linear, joint, products = best.loss, NOTHING, rows.joint, None
    if limits is not None:
        best, given, products = interacting(best, rows, basis, given, thirds, ridges, said, limits)
    if best.ridge is not None:
        linear, joint = with_slopes(rows, best, basis, given, products)
        each = zip(thirds, best.z, best.slopes, strict=True)
        thirds = [third._replace(joint=joint_with(third.joint, of, x)) for third, of, x in each]
    shape = STEPS if limits is None else TABLES._replace(most=limits.rules)
    operands = saying_most([*sought], OPERANDS, said, lambda of: Part(*of))
    most = {of: sought[of] for of in operands}
    linear, joint, thirds = with_growth(linear, joint, thirds, cut, most, labels, shape)
    after = sum(third.loss(labels) for third in thirds)
    names, gain = named(Values.among(sought), thirds, joint, labels)
    return with_names(linear, names), of_all, before / held, (after - gain) / held


def saying_most(columns: list[C], most: int, said: Said, part: Callable[[C], Part]) -> list[C]:
    """Return so many columns at most: those that say most, or all if there are no more."""
    if len(columns) <= most:
        return columns
    of = said()
    return sorted(columns, key=lambda column: -of.get(part(column), 0.0))[:most]


def with_growth(
    linear: LinearPart,
    joint: Floats,
    thirds: list[Third],
    cut: Cut,
    numbers: Mapping[Operand, Floats],  # of columns that may be combined, (rows,)
    labels: Labels,
    shape: Shape,
) -> tuple[LinearPart, Floats, list[Third]]:
    """Add steps or rules, of columns made of two too, as far as held-out thirds gain by them."""
    chosen, most = Growth.of([cut] * len(thirds), thirds, labels, shape), list[Found]()
    candidates = None if chosen is None else Candidates.among(numbers)
    made = making(numbers, labels)
    if chosen is not None and candidates is not None:
        some = labels.take(np.arange(len(thirds[0].joint)))
        each = (candidates.best(third.joint, some, third.rest) for third in thirds)
        cuts = (with_combined(cut, found, made) for found in each)
        more = Growth.of(cuts, thirds, labels, shape, chosen)
        if more is not None and more.loss < chosen.loss - OF_COMBINED:
            chosen, most = more, candidates.best(joint, labels)
    if chosen is None or not chosen.tables:
        return linear, joint, thirds
    if most:
        every = with_combined(cut, most, made)
        tables = chosen.on_all(every, joint, labels)
        size, added = np.ptp(tables.values, axis=1).max(axis=1), np.zeros(len(every.parts))
        for columns, of in zip(tables.columns, size, strict=True):
            added[np.unique(columns[columns >= 0])] += of
        used = {every.parts[at] for at in np.flatnonzero(added >= LITTLE * added.max()).tolist()}
        cut = with_combined(cut, [of for of in most if of in used], made)
    grown = chosen.on_all(cut, joint, labels)
    linear = with_rules(linear, cut, grown, labels, shape)
    return linear, joint + added_by(grown, cut, chosen, joint), chosen.without_each(thirds)


def with_names(linear: LinearPart, names: Mapping[Operand, Mapping[float, Floats]]) -> LinearPart:
    """Return a linear part with what exact numbers add, (classes,) each."""
    of = {
        Term(*column, Is(value)): tuple(points.tolist())
        for column, values in names.items()
        for value, points in values.items()
    }
    return replace(linear, of={**linear.of, **of}) if of else linear


OF_FEW = 2.0  # twice the log loss, in nats, of a temperature whose logarithm is 1 off


def temperature_of(rows: Weighed, z: Floats, ridge: float | None) -> float:
    """Return the weight of all evidence, at most 1, by which held-out fifths lose least."""
    # Weights and slopes of functions, (functions, rows), are fitted to the rest of the rows. Steps
    # are not grown again: few rows have hardly any.
    evidence, prior = np.zeros_like(rows.joint), rows.joint.copy()
    try:
        fifths = [*rows.fifths]
    except ValueError:  # a row of little weight has squares that are infinite by themselves
        return 1.0
    for (joint, rest, held), before in fifths:
        off = joint - before
        if ridge is not None:
            passes = Passes.of(joint[rest].T, rows.labels.take(rest), z[:, rest])
            off = joint_with(off, z, solve(passes, ridge, np.zeros(passes.slopes)))
        evidence[held], prior[held] = off[held], before[held]
    if not evidence.any():
        return 1.0
    return min(1.0, one_weight(evidence, prior, rows.labels, 0.0, (OF_FEW, OF_FEW)))


# --- Functions of one column ---------------------------------------------------------------------
#
# Functions of the columns: numbers, clipped and standardised, and indicators of common levels.
#
# A sum of them, each times a slope, is the linear part of a model.


TAILS = 0.005  # of the numbers, on each side, are clipped
LEVELS = 8  # of a column, at most, the commonest
IN_LEVEL = 5.0  # rows of a level, at least
LEAST_SCALE = 0.2  # of an indicator, so that a rare level has no large values
FUNCTIONS = 256  # at most: of the columns that say most
LARGEST = 1e120  # a number, whose square times any weight is finite
ALIKE = 0.95  # correlation of two levels that share a slope,
ALIKE_ROWS = 2_000  # by so many rows
TOGETHER = 200_000  # numbers, about, of columns that are described together


class Basis(NamedTuple):
    """Functions of the columns, on the rows of a sample."""

    terms: list[Term]
    z: Floats  # (terms, rows): 0 where a cell is missing
    shares: Floats | None  # (terms, slopes): orthonormal; None if each term has its own slope
    shared: Floats  # (slopes, rows): the functions that have slopes of their own
    passed_over: int  # how many there were beside them, of columns that say less


def columns_of(model: Model, batches: Sequence[Batch]) -> list[Column]:
    """Return the columns that each are an event of their own, with the rows of all batches."""
    # Groups whose columns are sparse are left out. The order is one, whatever that of the table is:
    # rounding then stops a search at one place, and of equal columns the first is taken.
    by_batch = [model.blocks(batch) for batch in batches]
    found: list[Column] = []
    for group in model.view.schema.of_columns:
        block = joined([of[group.key] for of in by_batch]) if group.is_by_column else None
        if isinstance(block, Dense | Codes):
            each = enumerate(block.axis.columns)
            found += [(Part(group.key, name), group, block, j) for j, name in each]
    return sorted(found, key=lambda column: str(column[0]))


def basis_of(columns: Sequence[Column], said: Said, labels: Labels) -> Basis:
    """Return functions of the columns, and their values on the rows."""
    # Levels of two columns that nearly always come together have one slope. Else a weak ridge would
    # give them slopes that cancel each other, by the few rows in which they differ.
    found = {
        at: functions_of(block, labels.weight, indicator=isinstance(group.event, Bernoulli))
        for at, (group, block) in {id(of): (group, of) for _, group, of, _ in columns}.items()
    }
    every = [(*column, of) for column in columns for of in found[id(column[2])][column[3]]]
    more = len(every) - FUNCTIONS
    every = saying_most(every, FUNCTIONS, said, lambda of: of[0])
    terms = [Term(part.group, block.axis.columns[j], of()) for part, _, block, j, of in every]
    z = np.empty((len(every), len(labels)))
    for into, term, (_, _, block, j, _) in zip(z, terms, every, strict=True):
        into[:] = term.function.of(block, j)
    steps = [at for at, term in enumerate(terms) if isinstance(term.function, Step)]
    some = z[steps, :ALIKE_ROWS]
    size = np.sqrt(np.square(some).sum(axis=1))
    alike = some @ some.T > ALIKE * np.maximum(np.outer(size, size), ROUNDING)
    slope_of = np.arange(len(every))
    for i, j in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
        a, b = slope_of[steps[i]], slope_of[steps[j]]
        slope_of[slope_of == max(a, b)] = min(a, b)
    slopes, number, times = np.unique(slope_of, return_inverse=True, return_counts=True)
    shares = None
    if len(slopes) < len(every):
        shares = np.zeros((len(every), len(slopes)))
        shares[np.arange(len(every)), number] = 1 / np.sqrt(times[number])
    shared = z if shares is None else (z.T @ shares).T
    return Basis(terms, z, shares, shared, max(0, more))


def functions_of(
    block: Dense | Codes, weight: Floats | None, *, indicator: bool = False
) -> list[list[Make]]:
    """Return what makes the functions of each column: a line, or indicators of common levels."""
    # Two levels have one indicator.
    found: list[list[Make]] = []
    if isinstance(block, Codes):
        for j, levels in enumerate(block.axis.levels):
            best, rows = commonest(block, j, weight, LEVELS)
            known, every = np.count_nonzero(rows), sorted((levels[at] for at in best), key=repr)
            among = tuple(every) if len(best) == known else ()
            of_column: list[Make] = []
            for at in best[: known - 1] if known <= 2 else best:
                share = float(rows[at] / rows.sum())
                scale = max(float(np.sqrt(share * (1 - share))), LEAST_SCALE)
                of_column.append(partial(Step, levels[at], share, scale, among))
            found.append(of_column)
        return found
    size = max(1, TOGETHER // max(1, len(block)))
    for start in range(0, len(block.axis.columns), size):
        x = np.ascontiguousarray(block.values.T[start : start + size], np.float64)
        of_columns = lines(x, weight, indicator=indicator)
        found += [[] if line is None else [line] for line in of_columns]
    return found


def commonest(
    block: Codes, column: int, weight: Floats | None, most: int
) -> tuple[list[int], Floats]:
    """Return the commonest levels of a column, of five rows or more, and the rows of each level."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    there = (code >= 0) & (code < len(levels))
    known = code[there]
    rows = np.bincount(known, None if weight is None else weight[there], len(levels)).astype(float)
    enough = np.flatnonzero(rows >= IN_LEVEL * (1 - ROUNDING)).tolist()
    # Levels that came equally often are taken in the order in which rows have them.
    _, first = np.unique(np.append(known, range(len(levels))), return_index=True)
    return sorted(enough, key=lambda at: (-rows[at], first[at]))[:most], rows


def lines(x: Floats, weight: Floats | None, *, indicator: bool) -> list[Make | None]:
    """Return what makes a line of each column of numbers, (columns, rows), clipped at its tails."""
    # None for a column whose scale is 0 or infinite.
    there = ~np.isnan(x)
    whole = there.all(axis=1)
    found: list[Make | None] = [None] * len(x)
    alike: list[tuple[NDArray[np.int64], slice | NDArray[np.bool_]]] = [
        (np.flatnonzero(whole), slice(None))
    ]
    alike += [(np.array([j]), there[j]) for j in np.flatnonzero(~whole)]
    for columns, rows in alike:
        some, of = x[columns][:, rows], None if weight is None else weight[rows]
        if not some.size:
            continue
        some = np.clip(some, -LARGEST, LARGEST)
        low, high = tails(some, of)
        flat = ~(low < high)
        low = np.where(flat, some.min(axis=1), low)
        high = np.where(flat, some.max(axis=1), high)
        some = np.clip(some, low[:, None], high[:, None])
        with np.errstate(over="ignore", invalid="ignore"):  # where rows weigh 1e90
            centre = np.average(some, axis=1, weights=of)
            scale = np.sqrt(np.average(np.square(some - centre[:, None]), axis=1, weights=of))
        varies = (scale > ROUNDING * np.maximum(np.abs(low), np.abs(high))) & (scale < np.inf)
        if indicator:
            scale = np.maximum(scale, LEAST_SCALE * (high - low))
        numbers = np.stack([low, high, centre, scale], axis=1)
        for j, each in zip(columns[varies].tolist(), numbers[varies].tolist(), strict=True):
            found[j] = partial(Line, *each)
    return found


def tails(x: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Return the numbers that a share ``TAILS`` of the weight is at most, and at least."""
    n = x.shape[1]
    if weight is None:
        places = [int(TAILS * n), n - 1 - int(TAILS * n)]
        low, high = np.partition(x, places, axis=1)[:, places].T
        return low, high
    order = np.argsort(x, axis=1)  # of equal numbers in any order, which changes no quantile
    total = np.cumsum(weight[order], axis=1)
    below = total <= TAILS * (1 + ROUNDING) * total[:, -1:]
    above = total >= (1 - TAILS) * (1 - ROUNDING) * total[:, -1:]
    first = np.minimum(below.sum(axis=1), n - 1)
    last = np.minimum((~above).sum(axis=1), n - 1)
    low, high = (
        np.take_along_axis(x, order, axis=1)[np.arange(len(x)), at] for at in (first, last)
    )
    return low, high


# --- Slopes, fitted to all rows by the ridge that held-out rows chose ----------------------------


LAST_STEPS = 80  # of the search


def with_slopes(
    rows: Weighed, best: Chosen, basis: Basis, given: Given | None, products: Products | None
) -> tuple[LinearPart, Floats]:
    """Fit slopes to all rows: a linear part, and the joint log likelihoods with it."""
    assert best.ridge is not None
    n = len(basis.shared)
    m = n if given is None else n + len(given.z)
    every: list[NDArray[np.floating]] = [basis.shared] if given is None else [basis.shared, given.z]
    one = np.ones((1, len(rows.labels)))
    if products is None:
        z = np.vstack([*every, one])
    else:
        every = [of.astype(np.float32) for of in (*every, products.values(), one)]
        z = np.asfortranarray(np.vstack(every))  # row by row, as it is multiplied
    passes = Passes.of(rows.joint.T, rows.labels, z)
    start = np.mean(best.slopes, axis=0) if products is None else np.zeros(passes.slopes)
    x = solve(passes, best.ridge, start, LAST_STEPS)
    slope = of_classes(x, len(rows.labels.classes))
    of_terms = slope[:n] if basis.shares is None else basis.shares @ slope[:n]
    intercept, rules = slope[-1], {}
    if given is not None:
        points = slope[n:m] / given.scale[:, None]
        intercept = intercept - given.centre @ points
        each = zip(given.rules, points, strict=True)
        rules = {Rule(rule.conditions): rule.points(of) for rule, of in each}
    of_products = [] if products is None else products.terms()
    linear = LinearPart(
        dict(zip(basis.terms, map(tuple, of_terms.tolist()), strict=True)),
        dict(zip(of_products, map(tuple, slope[m:-1].tolist()), strict=True)),
        tuple(intercept.tolist()),
        best.ridge,
        rules,
    )
    return linear, joint_with(rows.joint, z, x)


# --- Interactions: rules that are given in words, and products of two functions ------------------
#
# A product is scored by the gradient of the log loss at given posteriors, squared, over a bound of
# its curvature; the products of all functions are scored by a few multiplications of matrices.


MOST = 400  # products
A_COLUMN = 6  # products for each column, at most
OF_CURVATURE = 10.0  # added to the curvature
FLAT = 1e-6  # a standard deviation of a product that does not vary
WORTH = 3.0  # nats that must be saved on the held-out rows; chance saves less


def interacting(
    lines: Chosen,
    rows: Weighed,
    basis: Basis,
    given: Given | None,
    thirds: Sequence[Third],
    ridges: Sequence[float],
    said: Said,
    limits: Limits,
) -> tuple[Chosen, Given | None, Products | None]:
    """Add given rules to the functions of one column, and products, where held-out rows gain."""
    n = len(thirds[0].joint)
    some, one = rows.labels.take(np.arange(n)), np.ones((1, n))
    best, own = lines, [basis.shared[:, :n]]
    if given is not None:
        own.append(given.z[:, :n])
        more = choose_ridge([np.vstack([*own, one])] * len(thirds), thirds, some, ridges)
        best = more if more.loss < best.loss - WORTH else best
    z, may = basis.z.astype(np.float32), limits.are_multiplied(basis.terms)
    each = []
    for third in thirds:
        p, rest = posterior(third.joint[third.rest]), some.take(third.rest)
        found = Products.choose(basis.terms, z, said, p, rest, third.rest, may=may)
        each.append(np.asfortranarray(np.vstack([*own, found.values(n), one])))  # row by row
    more = choose_ridge(each, thirds, some, ridges)
    if more.loss < best.loss - WORTH:
        p = posterior(rows.joint)
        return more, given, Products.choose(basis.terms, z, said, p, rows.labels, may=may)
    return best, None if best is lines else given, None


class Given(NamedTuple):
    """Rules that are given in words, as functions of the rows."""

    rules: list[GivenRule]
    centre: Floats  # (rules,): the share of rows that each holds in,
    scale: Floats  # (rules,): and its standard deviation
    z: Floats  # (rules, rows): whether each holds, less its centre, over its scale

    @classmethod
    def of(cls, rows: Weighed, limits: Limits) -> Given:
        """Read the rules, and look where they hold."""
        columns = known_columns(rows.model)
        rules = [read_rule(said, columns) for said in limits.given]
        blocks = [rows.model.blocks(batch) for batch in rows.batches]
        holds = np.empty((len(rules), len(rows.labels)))
        for row, rule in zip(holds, rules, strict=True):
            row[:] = np.concatenate([rule.of(some) for some in blocks])
        centre = np.array([mean(of, rows.labels.weight) for of in holds])
        scale = np.maximum(np.sqrt(centre * (1 - centre)), LEAST_SCALE)
        return cls(rules, centre, scale, (holds - centre[:, None]) / scale[:, None])


class Products(Frozen):
    """Products of two functions of different columns."""

    of: Sequence[Term]
    z: Singles  # (functions, rows)
    a: NDArray[np.int64]  # (products,): the one function of each
    b: NDArray[np.int64]  # (products,): the other
    scale: Floats  # (products,): their standard deviations

    @classmethod
    def choose(
        cls,
        of: Sequence[Term],
        z: Singles,
        said: Said,
        p: Floats,  # (rows, classes)
        labels: Labels,  # of these rows
        rows: NDArray[np.int64] | None = None,  # of z; by default all
        *,
        may: NDArray[np.bool_] | None = None,  # (functions,): which are multiplied
    ) -> Products:
        """Choose the products that would lower the log loss of some rows most."""
        some = z if rows is None else z.take(rows, axis=1)
        columns = [term.part for term in of]
        number = {part: i for i, part in enumerate(dict.fromkeys(columns))}
        column = np.array([number[part] for part in columns], np.int64)
        best = saying_most([*number], COLUMNS, said, lambda part: part)
        among = np.isin(column, [number[part] for part in best])
        may = among if may is None else among & may
        a, b = np.triu_indices(len(columns), 1)
        fit = (column[a] != column[b]) & may[a] & may[b]
        a, b = a[fit], b[fit]
        most = min(MOST, A_COLUMN * len(best))
        if len(a) > most:
            score = scores_of_products(some, p, labels)[a, b]
            first = np.sort(np.argsort(-score, kind="stable")[:most])
            a, b = a[first], b[first]
        variance = np.empty(len(a))
        for at, (i, j) in enumerate(zip(a, b, strict=True)):  # one by one, so that it stays cached
            product = some[i] * some[j]
            product -= mean(product, labels.weight)
            variance[at] = mean(np.square(product, out=product), labels.weight)
        scale = np.sqrt(variance)
        there = scale > FLAT
        return cls(of, z, a[there], b[there], scale[there])

    def values(self, rows: int | None = None) -> Singles:
        """Return the products of all rows, or of the first, clipped, of shape (products, rows)."""
        z = self.z[:, :rows]
        found = np.empty((len(self.a), z.shape[1]), np.float32)
        each = zip(found, self.a, self.b, self.scale.astype(np.float32), strict=True)
        for product, a, b, scale in each:  # one by one, so that it stays cached
            np.multiply(z[a], z[b], out=product)
            np.divide(product, scale, out=product)
            np.clip(product, -FARTHEST, FARTHEST, out=product)
        return found

    def terms(self) -> Sequence[Product]:
        """Return the products as the model holds them."""
        each = zip(self.a.tolist(), self.b.tolist(), self.scale.tolist(), strict=True)
        return [Product(self.of[a], self.of[b], scale) for a, b, scale in each]


def scores_of_products(z: Singles, p: Floats, labels: Labels) -> Floats:
    """Return how much each product of functions, (functions, rows), would save, for each pair."""
    residual = -p.T.astype(np.float32)
    residual[labels.codes, np.arange(len(p))] += 1
    weight, square = labels.weights.astype(np.float32), np.square(z)
    score = np.zeros((len(z), len(z)))
    for of_class in residual[1:] if len(residual) == 2 else residual:  # two have equal scores
        size = np.abs(of_class)
        curve = square @ (square * (size * (1 - size) * weight)).T
        score += np.square(z @ (z * (of_class * weight)).T) / (curve + OF_CURVATURE)
    return score


# --- Rules: columns cut into bins that conditions are made of ------------------------------------
#
# A number that is more of the rows than a bin should hold has a bin of its own; the others share
# what is left about equally. The commonest levels have a bin each.


BINS = 48  # of a column of numbers
LEVELS_WITH_BINS = 32  # of a column of categories; all others share one
SEQUENCE = 50  # whole numbers, none twice, that are taken for an identifier

Bins: TypeAlias = "Floats | tuple[Level, ...]"  # ascending edges, or the levels with a bin
Made: TypeAlias = "tuple[Bins, NDArray[np.uint8]]"  # of a column, and the bin of each row
Makes: TypeAlias = "Callable[[Sequence[Found]], list[Made]]"


class Cut(Frozen):
    """Columns of sampled rows, cut into bins."""

    parts: list[tuple[BlockKey, Name]]  # the columns, and the groups that they are in
    bins: list[Bins]  # of each column
    codes: NDArray[np.uint8]  # (columns, rows): the bin of each; the last is of missing cells
    sizes: NDArray[np.int64]  # (columns,): how many bins there are
    ordered: NDArray[np.bool_]  # (columns,): which are of numbers
    signs: NDArray[np.int8]  # (columns,): how the odds of the second class may change; 0 if anyhow
    passed_over: int  # how many columns there were beside them, which say less

    def rows(self, column: int, labels: Labels) -> Floats:
        """Return how many rows are in each bin of a column, (bins,)."""
        size = self.sizes[column]
        return np.bincount(self.codes[column], labels.weights, size).astype(np.float64)


def cut_of(columns: Sequence[Column], said: Said, labels: Labels, limits: Limits | None) -> Cut:
    """Cut the columns that conditions may be of: if there are many, those that say most."""
    # Without interactions they are of more than two values: of fewer a line says all.
    fewest, monotone = (2, {}) if limits is None else (1, limits.monotone)
    most = [
        (group.key, block, j)
        for _, group, block, j in saying_most([*columns], COLUMNS, said, lambda of: of[0])
        if limits is None or limits.may_be(block.axis.columns[j])
    ]
    cut: dict[tuple[int, int], Made] = {}
    for at, block in {id(block): block for _, block, _ in most}.items():
        of_block = [j for _, of, j in most if of is block]
        made = bins_of(block, of_block, labels.weight)
        cut |= {(at, j): (bins, codes) for j, bins, codes in made if len(bins) >= fewest}
    kept = [of for of in most if (id(of[1]), of[2]) in cut]
    each = [cut[id(block), j] for _, block, j in kept]
    parts = [(key, block.axis.columns[j]) for key, block, j in kept]
    return Cut(
        parts,
        [bins for bins, _ in each],
        np.array([codes for _, codes in each], np.uint8).reshape(len(each), len(labels)),
        np.array([len(bins) + 2 for bins, _ in each], np.int64),
        np.array([isinstance(bins, np.ndarray) for bins, _ in each], np.bool_),
        np.array([monotone.get(title(name), 0) for _, name in parts], np.int8),
        max(0, len(columns) - COLUMNS),
    )


def numbers_of_columns(
    columns: Sequence[Column], model: Model, some: Collection[Operand] | None = None
) -> dict[Operand, Floats]:
    """Return the numbers, (rows,), of columns, or some, that are read as they are in the table."""
    return {
        (group.key, block.axis.columns[j]): numbers_of(block, j)
        for _, group, block, j in columns
        if some is None or (group.key, block.axis.columns[j]) in some
        if isinstance(block, Dense) and group.kind in COMBINED and group.key not in model.view.reads
    }


def combined_as_given(
    model: Model, numbers: Mapping[Operand, Floats], limits: Limits | None
) -> list[Found]:
    """Return the sums, differences and ratios that are asked for."""
    known = {
        name: of
        for name, of in known_columns(model).items()
        if (of.group, of.name) in numbers or of.levels is not None
    }
    asked = model.settings.derived or ()
    found = [read_combined(said, known) for said in asked]
    apart = set[str]() if limits is None else {*limits.without, *limits.monotone}
    for said, (_, of) in zip(asked, found, strict=True):
        for name in map(title, of.sources):
            if name in apart:
                raise ValueError(
                    f"derived has {said!r}, but interactions are to be without {name!r}, or "
                    "monotone in it: leave one of both out."
                )
    return found


def with_combined(cut: Cut, found: Sequence[Found], made: Makes) -> Cut:
    """Return cut columns, and beside them some that are made of two."""
    if not found:
        return cut
    bins, codes = zip(*made(found), strict=True)
    return replace(
        cut,
        parts=[*cut.parts, *found],
        bins=[*cut.bins, *bins],
        codes=np.concatenate([cut.codes, codes]),
        sizes=np.append(cut.sizes, [len(edges) + 2 for edges in bins]),
        ordered=np.append(cut.ordered, np.ones(len(found), np.bool_)),
        signs=np.append(cut.signs, np.zeros(len(found), np.int8)),
    )


def making(numbers: Mapping[Operand, Floats], labels: Labels) -> Makes:
    """Return a function that cuts columns made of two, of which the numbers are (rows,)."""
    kept: dict[Found, Made] = {}

    def made(found: Sequence[Found]) -> list[Made]:
        new = [of for of in found if of not in kept]
        if new:
            x = [of.of(*(numbers[key, name] for name in of.sources)) for key, of in new]
            block = Dense(np.stack(x, axis=1), Columns(tuple(of for _, of in new)))
            for j, edges, codes in bins_of(block, range(len(new)), labels.weight):
                kept[new[j]] = edges, codes
        return [kept[of] for of in found]

    return made


def bins_of(
    block: Dense | Codes, columns: Sequence[int], weight: Floats | None
) -> Iterator[tuple[int, Bins, NDArray[np.uint8]]]:
    """Yield columns of a block, the edges or the levels of each, and the bin of each row."""
    if isinstance(block, Codes):
        for j in columns:
            levels, code = block.axis.levels[j], block.codes[:, j].astype(np.int64)
            best, _ = commonest(block, j, weight, LEVELS_WITH_BINS)
            bin_ = np.full(len(levels) + 1, len(best))  # then those that have none
            bin_[best] = np.arange(len(best))
            bin_of = np.where(code < 0, len(best) + 1, bin_[np.clip(code, 0, len(levels))])
            yield j, tuple(levels[at] for at in best), bin_of.astype(np.uint8)
        return
    values = np.asarray(block.values[:, columns], np.float64)
    edges = [edges_of(x, weight, BINS) for x in values.T]
    first = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    codes = dispatch.find_bins(values, np.concatenate([np.empty(0), *edges]), first)
    for at, (j, of_column) in enumerate(zip(columns, edges, strict=True)):
        bin_of = np.where(codes[:, at] < 0, len(of_column) + 1, codes[:, at])
        yield j, of_column, bin_of.astype(np.uint8)


def edges_of(x: Floats, weight: Floats | None, bins: int) -> Floats:
    """Return edges between numbers, so that frequent ones stand alone and others share the rest."""
    # There are none in a sequence: whole numbers, none twice, and about as many as their range, are
    # like an identifier, and a rule about it says nothing of other rows.
    missing = np.isnan(x)
    if missing.any():
        x, weight = x[~missing], None if weight is None else weight[~missing]
    if weight is None:
        x = np.sort(x)
        first = np.flatnonzero(np.append(True, x[1:] > x[:-1]))[: len(x)]
        value, count = x[first], np.diff(np.append(first, len(x))).astype(np.float64)
    else:
        value, of = np.unique(x, return_inverse=True)
        count = np.bincount(of, weight, len(value)).astype(np.float64)
    whole = len(value) == len(x) >= SEQUENCE and (value == np.rint(value)).all()
    if whole and np.ptp(value) <= 2 * count.sum():
        return np.empty(0)
    begins = begins_of(count, bins)
    begins[:1] = False
    at = np.flatnonzero(begins)
    return between(value[at - 1], value[at])


def begins_of(count: Floats, bins: int) -> NDArray[np.bool_]:
    """Return with which of ascending numbers a bin begins, (numbers,), by how often each came."""
    # A number of more rows than a bin should hold has a bin of its own, and the others share what
    # is left.
    if len(count) <= bins:
        return np.ones(len(count), np.bool_)
    alone, left = np.zeros(len(count), np.bool_), bins
    if count.max() >= count.sum() / bins * (1 - ROUNDING):
        most = np.argsort(-count, kind="stable")[: bins // 2]
        size = (count.sum() - np.cumsum(count[most]) + count[most]) / (bins - np.arange(len(most)))
        few = np.append(count[most] < size * (1 - ROUNDING), True)
        alone[most[: few.argmax()]], left = True, bins - int(few.argmax())
    others = np.where(alone, 0.0, count)
    before = np.cumsum(others) - others
    while True:
        number = np.floor(before / max(others.sum() / left, ROUNDING) + ROUNDING)
        begins = np.append(True, np.diff(number) > 0) | alone
        begins[1:] |= alone[:-1]
        if begins.sum() <= max(bins, 2 * alone.sum() + 1):
            return begins
        left -= 1  # where a number that is alone is in the middle of a bin there are two


# --- Growing rules: as many as lower the log loss of held-out rows -------------------------------


NUMBERS = 20_000  # in the cells of all tables, at most
WORK = 500_000_000  # rows × columns × classes × tables, at most,
FEW = 5  # tables: of which none are tried where there may be fewer for that
PATIENCE_OF_RULES = 10  # tables that lower no loss of held-out rows, after which the search ends
RIDGE = 3.0  # added to its curvature
IN_BIN = 5.0  # rows on each side of a condition
HALF = 0.5 + 1e-9  # of the rows


class Shape(NamedTuple):
    """How large a decision table may be, and the share of a Newton step that a cell's value is."""

    columns: int
    conditions: int
    rate: float
    most: int = MOST_RULES


LARGEST_RATE = 0.8  # where there may be fewer tables than ``MOST_RULES``, each has a larger share
STEPS, TABLES = Shape(columns=1, conditions=2, rate=0.5), Shape(columns=3, conditions=4, rate=0.3)


COMBINED = ("number", "time")  # what columns that are combined hold
LITTLE = 0.1  # of what the column that is used most adds
OF_COMBINED = 6.0  # nats that are to be saved by columns that are made of two


class Growth(NamedTuple):
    """How many tables lower the log loss of held-out rows most."""

    shape: Shape
    tables: int
    loss: float  # of the held-out rows with them, in nats
    grown: list[tuple[Cut, Grown]]  # without each third

    @classmethod
    def of(
        cls,
        cuts: Iterable[Cut],
        thirds: Sequence[Third],
        labels: Labels,
        shape: Shape,
        beyond: Growth | None = None,
    ) -> Growth | None:
        """Grow tables without each third, on the columns that are cut for it.

        None if that would take long, or if on the first third they are no better than others.
        """
        k = 1 if len(labels.classes) == 2 else len(labels.classes)
        curves, every, most = list[Floats](), list[tuple[Cut, Grown]](), 0
        for cut, third in zip(cuts, thirds, strict=True):
            if not every:
                work = len(labels) * len(cut.parts) * k
                able = min(NUMBERS // (k * 2**shape.conditions), WORK // work) if work else 0
                most = min(shape.most, able)
                if able < FEW or not most:  # it would take long to grow a few
                    return None
                rate = min(LARGEST_RATE, shape.rate * MOST_RULES / most)
                shape = shape._replace(rate=rate, most=most)
            held = np.zeros(len(third.joint), np.bool_)
            held[third.held] = True
            grown = grow_on(cut, third.joint, labels, held, shape, most, PATIENCE_OF_RULES)
            every.append((cut, grown))
            curves.append(grown.losses[: grown.rounds + 1])
            if len(every) == 1 and beyond is not None:
                others = beyond.grown[0][1]
                if curves[0].min() >= others.losses[: others.rounds + 1].min():
                    return None
        longest = max(map(len, curves))
        each = [np.pad(of, (0, longest - len(of)), mode="edge") for of in curves]
        loss = np.sum(each, axis=0)
        best = int(np.argmin(loss))
        # As of slopes: which columns say most was found on all rows, those held out too.
        if loss[best] >= loss[0] - WORTH - every[0][0].passed_over / len(thirds[0].joint):
            best = 0
        return cls(shape, best, float(loss[best]), every)

    def on_all(self, cut: Cut, joint: Floats, labels: Labels) -> Grown:
        """Grow as many tables on all rows."""
        none = np.zeros(len(joint), np.bool_)
        return grow_on(cut, joint, labels, none, self.shape, self.tables, 0)

    def without_each(self, thirds: Sequence[Third]) -> list[Third]:
        """Return thirds with what was grown without each of them."""
        return [
            of._replace(joint=of.joint + added_by(grown, cut, self, of.joint))
            for of, (cut, grown) in zip(thirds, self.grown, strict=True)
        ]


def added_by(grown: Grown, cut: Cut, chosen: Growth, joint: Floats) -> Floats:
    """Return what the first tables that were grown add to rows, (rows, classes)."""
    n, k = joint.shape
    found = np.zeros((n, grown.values.shape[2]))
    for at in range(min(chosen.tables, grown.rounds)):
        used = np.flatnonzero(grown.columns[at] >= 0)
        columns, cell = grown.columns[at, used], np.zeros(n, np.int64)
        for depth, column in enumerate(columns.tolist()):
            bits = grown.masks[at, depth] >> np.arange(cut.sizes[column], dtype=np.uint64)
            cell |= (bits & np.uint64(1)).astype(np.int64)[cut.codes[column, :n]] << depth
        value = grown.values[at]
        if chosen.shape.columns == 1:  # missing cells have no value
            there = cut.codes[columns[0], :n] < cut.sizes[columns[0]] - 1
            found += np.where(there[:, None], value[cell], 0.0)
        else:
            found += value[cell]
    return found @ [[-0.5, 0.5]] if k == 2 else found


def grow_on(
    cut: Cut,
    joint: Floats,
    labels: Labels,
    held: NDArray[np.bool_],
    shape: Shape,
    rounds: int,
    patience: int,
) -> Grown:
    """Grow so many rules on the first rows but those held out, or until these gain no more."""
    n = len(joint)
    weight = labels.weights[:n].astype(np.float64)  # of a sample it is one row at a mean
    return Grown(
        *dispatch.grow_rules(
            np.ascontiguousarray(cut.codes[:, :n]),
            cut.sizes,
            cut.ordered,
            joint,
            labels.codes[:n].astype(np.int32),
            weight * (n / weight.sum()),
            held,
            cut.signs,
            rounds=rounds,
            patience=patience,
            conditions=shape.conditions,
            columns=shape.columns,
            rate=shape.rate,
            ridge=RIDGE,
            rows=IN_BIN,
        )
    )


# --- What was grown, as the linear part of a model -----------------------------------------------


Asked: TypeAlias = "Sequence[tuple[int, int]]"  # the column and the mask of each condition


def with_rules(
    linear: LinearPart, cut: Cut, grown: Grown, labels: Labels, shape: Shape
) -> LinearPart:
    """Return a linear part with what was grown: tables of one column are steps of that column."""
    k = len(labels.classes)
    of = {term: np.array(slopes) for term, slopes in linear.of.items()}
    intercept = np.array(linear.intercept) if linear.intercept else np.zeros(k)
    rules = {rule: np.array(points) for rule, points in linear.rules.items()}
    steps: dict[int, Floats] = {}  # by column and bin
    for at in range(grown.rounds):
        columns = grown.columns[at]
        used = columns >= 0
        some, masks = columns[used].tolist(), grown.masks[at][used].tolist()
        points = grown.values[at, : 2 ** len(some)]
        # They sum to 0 over the classes.
        points = points * [-0.5, 0.5] if k == 2 else points - points.mean(axis=1, keepdims=True)
        if len(set(some)) == 1:
            size = cut.sizes[some[0]]
            cell = np.zeros(size, np.int64)
            for depth, mask in enumerate(masks):
                cell |= np.array([mask >> b & 1 for b in range(size)]) << depth
            steps[some[0]] = steps.get(some[0], 0.0) + points[cell]
            continue
        asked = [*zip(some, masks, strict=True)]
        conditions, flips = zip(*(_condition(cut, *of, labels) for of in asked), strict=True)
        flipped = sum(flip << depth for depth, flip in enumerate(flips))
        rule, points = Rule(conditions), points[np.arange(len(points)) ^ flipped]
        rules[rule] = rules.get(rule, 0.0) + _whole(points, rule, cut, asked, labels)
    for column, points in steps.items():
        rows = cut.rows(column, labels)
        if shape.columns == 1:
            points[-1] = 0  # what was missing has no value while such tables are grown
        points[rows == 0] = rows @ points / rows.sum()  # what was never seen is in no bin
        intercept = intercept + points[-1]
        for term, slope in _terms(cut, column, points[:-1] - points[-1]):
            of[term] = of.get(term, 0.0) + slope
    return replace(
        linear,
        of={term: tuple(slope.tolist()) for term, slope in of.items()},
        intercept=tuple(intercept.tolist()),
        rules={rule: tuple(map(tuple, points.tolist())) for rule, points in rules.items()},
    )


def _terms(cut: Cut, column: int, points: Floats) -> list[tuple[Term, Floats]]:
    """Return the terms of a column that add these points to its bins, (bins, classes)."""
    (group, name), bins = cut.parts[column], cut.bins[column]
    found: list[tuple[Term, Floats]] = []
    if isinstance(bins, np.ndarray):
        found.append((Term(group, name, There()), points[0]))
        for edge, step in zip(bins.tolist(), np.diff(points, axis=0), strict=True):
            found.append((Term(group, name, Above(edge)), step))
    else:
        found.append((Term(group, name, There()), points[-1]))
        for level, point in zip(bins, points[:-1] - points[-1], strict=True):
            found.append((Term(group, name, Step(level, 0.0, 1.0)), point))
    return [(term, step) for term, step in found if np.abs(step).max() > ROUNDING]


def _whole(points: Floats, rule: Rule, cut: Cut, asked: Asked, labels: Labels) -> Floats:
    """Return the points of the cells of a rule, (cells, classes), of those with no side neither."""
    # What was never seen in a column adds the mean of what the rows add, whatever they have there.
    number = [of.test.number for of in reversed(rule.conditions)]
    found = np.zeros((*number, points.shape[1]))
    found[(slice(2),) * len(number)] = points.reshape(*[2] * len(number), -1)
    masks: dict[int, dict[int, int]] = {}
    for axis, (column, mask) in enumerate(reversed(asked)):
        if number[axis] > 2:
            masks.setdefault(column, {})[axis] = mask
    for column, of_column in masks.items():
        rows = cut.rows(column, labels)
        place: list[int | slice] = [slice(None)] * len(number)
        mean: Floats | float = 0.0
        for at in np.flatnonzero(rows).tolist():
            for axis, mask in of_column.items():
                place[axis] = mask >> at & 1
            mean = mean + rows[at] / rows.sum() * found[tuple(place)]
        for axis in of_column:
            place[axis] = NEITHER
        found[tuple(place)] = mean
    return found.reshape(-1, points.shape[1])


def _condition(cut: Cut, column: int, mask: int, labels: Labels) -> tuple[Condition, int]:
    """Return a condition, and 1 where it holds for the cells that the mask leaves out."""
    # Where no number was missing, a missing cell is on the side that most rows are on.
    (group, name), bins, rows = cut.parts[column], cut.bins[column], cut.rows(column, labels)
    last = len(bins) + 1
    among = np.array([mask >> b & 1 for b in range(last + 1)])
    share = float(among @ rows / rows.sum())
    missing = int(among[last] if rows[last] else share > HALF)
    if isinstance(bins, np.ndarray):  # the mask is of the bins below an edge
        below = int(among[:last].sum())
        if below == last:  # all that is there, so that missing cells are apart
            return Condition(group, name, Above(-np.inf), missing), 0
        return Condition(group, name, Above(float(bins[below - 1])), 1 - missing), 1
    flip = int(among[last - 1])  # what has no bin of its own is not named, or is on no side
    sides = [sorted((of for b, of in enumerate(bins) if among[b] == at), key=repr) for at in (0, 1)]
    if rows[last - 1]:
        test = OneOf(tuple(sides[1 - flip]))
        return Condition(group, name, test, missing ^ flip if rows[last] else 0), flip
    test = OneOf(tuple(sides[1]), tuple(sides[0]))
    return Condition(group, name, test, missing if rows[last] else NEITHER), 0
