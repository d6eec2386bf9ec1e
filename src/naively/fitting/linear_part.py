"""The linear part: slopes and rules that are added to the evidence where held-out rows gain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.functions import LEAST_SCALE, Basis, Products, basis_of, columns_of
from naively.fitting.leave_one_out import THIRDS, LeaveOneOut, Said, Third
from naively.fitting.limits import GivenRule, Limits, known_columns, read_rule
from naively.fitting.rules import STEPS, TABLES, Cut, grow, with_rules
from naively.fitting.slopes import Descent, Problem, Run, descend, ridges_of, solve
from naively.fitting.weights import evidence_said, mean, posterior
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Weights
from naively.terms.functions import NOTHING, LinearPart, Product, Term

# --- What is added to the weighted evidence of the columns ---------------------------------------
#
# First slopes of functions of one column, by ridge; with interactions, products of two of them as
# well. Then rules, grown on what these leave unsaid: steps of one column, or with interactions
# decision tables of a few. Each is added where it lowers the log loss of held-out thirds of the
# rows, of the first of them if they are many, and is then fitted to all rows.


WORTH = 3.0  # nats that products must save on the held-out rows; chance saves some
LAST_STEPS = 80  # of the search for slopes, on all rows


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows of a sample, as the weights of the columns say.

    Parameters
    ----------
    model : Model
        With weights that are all 1.
    weights : Weights
        Those that were fitted.
    found : LeaveOneOut
        The leave-one-out table of the rows, or of the first of them.
    batches : sequence of Batch
        All rows, as the model encodes them.
    labels : Labels
        Their labels.
    joint : ndarray of shape (rows, classes)
        Their weighted joint log likelihoods, each row left out.
    thirds : callable
        Returns the first ``ROWS`` rows with a third held out, each third if they are few.
    """

    model: Model
    weights: Weights
    found: LeaveOneOut
    batches: Sequence[Batch]
    labels: Labels
    joint: Floats
    thirds: Callable[[], Iterable[Third]]


class Added(NamedTuple):
    """A linear part, and the log loss of held-out rows without and with it, in nats per row."""

    linear: LinearPart
    before: float = 0.0
    after: float = 0.0


class _Sum(NamedTuple):
    """What was added so far, and the joint log likelihoods with it, of thirds and of all rows."""

    linear: LinearPart
    thirds: list[Third]
    joint: Floats


def fit_linear_part(rows: Weighed, limits: Limits | None = None) -> Added:
    """Return what lowers the log loss of held-out rows, fitted to all rows."""
    if rows.labels.group is not None and len(np.unique(rows.labels.group)) < THIRDS:
        return Added(NOTHING)
    said = cache(lambda: evidence_said(rows.weights, rows.found))
    columns = columns_of(rows.model, rows.batches)
    basis, cut = basis_of(columns, said, rows.labels), Cut.of(columns, said, rows.labels)
    cut = cut.without_truths() if limits is None else cut.within(limits)
    given = Given.of(rows, limits)
    if not (basis.terms or cut.parts or given.rules):
        return Added(NOTHING)
    thirds = [*rows.thirds()]
    of_held = sum(float(rows.labels.weights[third.held].sum()) for third in thirds)
    before, found = _with_slopes(rows, basis, given, thirds, said, limits)
    shape = STEPS if limits is None else TABLES._replace(most=limits.rules)
    grown = grow(cut, found.thirds, found.joint, rows.labels, shape)
    linear = found.linear
    if grown.grown is not None:
        linear = with_rules(linear, cut, grown.grown, rows.labels, shape)
    return Added(linear, before / of_held, grown.after / of_held)


@dataclass(frozen=True, eq=False)
class Given:
    """Rules that are given in words, as functions of the rows.

    Parameters
    ----------
    rules : list of GivenRule
        The rules.
    centre, scale : ndarray of shape (rules,)
        The share of rows that each holds in, and its standard deviation.
    z : ndarray of shape (rows, rules)
        Whether each holds, less its centre, over its scale.
    """

    rules: list[GivenRule]
    centre: Floats
    scale: Floats
    z: Floats

    @classmethod
    def of(cls, rows: Weighed, limits: Limits | None) -> Given:
        """Read the rules, and look where they hold."""
        if limits is None or not limits.given:
            return cls([], np.empty(0), np.empty(0), np.empty((len(rows.labels), 0)))
        columns = known_columns(rows.model)
        rules = [read_rule(said, columns) for said in limits.given]
        blocks = [rows.model.blocks(batch) for batch in rows.batches]
        holds = np.empty((len(rows.labels), len(rules)))
        for j, rule in enumerate(rules):
            holds[:, j] = np.concatenate([rule.of(some) for some in blocks])
        centre = np.array([mean(of, rows.labels.weight) for of in holds.T])
        scale = np.maximum(np.sqrt(centre * (1 - centre)), LEAST_SCALE)
        return cls(rules, centre, scale, (holds - centre) / scale)

    def added_to(self, linear: LinearPart, slope: Floats) -> LinearPart:
        """Return a linear part with the rules, by slopes of shape (rules, classes)."""
        points = slope / self.scale[:, None]
        intercept = np.array(linear.intercept) - self.centre @ points
        rules = {rule.rule: rule.points(of) for rule, of in zip(self.rules, points, strict=True)}
        return replace(linear, rules=rules, intercept=tuple(intercept.tolist()))


def _with_slopes(
    rows: Weighed,
    basis: Basis,
    given: Given,
    thirds: list[Third],
    said: Said,
    limits: Limits | None,
) -> tuple[float, _Sum]:
    """Add slopes of functions of the columns, of given rules, and of products."""
    some = rows.labels.take(np.arange(len(thirds[0].joint)))
    # Which columns say most was found on all rows, those held out too: the more there were to
    # choose from, and the fewer rows, the more has to be gained.
    ridges, enough = ridges_of(some, len(rows.found.parts)), basis.passed_over / len(some)
    lines = _chosen([basis.shared] * len(thirds), thirds, some, ridges, enough)
    best, before = lines, lines.descent.loss
    own = np.hstack([basis.shared, given.z])
    if given.rules:
        best = _better(best, _chosen([own] * len(thirds), thirds, some, ridges, 0.0))
    z, products = own if best is not lines else basis.shared, Products.none(basis)
    if limits is not None:
        may = limits.are_multiplied(basis.terms)
        z32 = basis.z.astype(np.float32)

        def multiplied(joint: Floats, labels: Labels, of: NDArray[np.int64] | None) -> Products:
            p = posterior(joint if of is None else joint[of])
            labels = labels if of is None else labels.take(of)
            return Products.choose(basis.terms, z32, said, p, labels, of, may=may)

        n = len(some)
        each = [multiplied(third.joint, some, third.rest).values(n) for third in thirds]
        more = _chosen([np.hstack([own[:n], of]) for of in each], thirds, some, ridges, 0.0)
        if _better(best, more) is more:
            best, products = more, multiplied(rows.joint, rows.labels, None)
            z = np.hstack([own.astype(np.float32), products.values()])
    ridge = best.descent.ridge
    if ridge is None:
        return before, _Sum(NOTHING, thirds, rows.joint)
    problem = Problem(rows.joint, rows.labels, _beside_one(z))
    start = problem.nothing if len(products) else np.mean(best.descent.found, axis=0)
    slope = solve(problem, ridge, start, LAST_STEPS)
    n, m = basis.shared.shape[1], own.shape[1] if best is not lines else basis.shared.shape[1]
    every = np.vstack([basis.of_terms(slope[:n]), slope[m:]])
    linear = linear_part_of(every, basis.terms, products.terms(), ridge)
    if m > n:
        linear = given.added_to(linear, slope[n:m])
    return before, _Sum(linear, best.thirds(thirds), problem.joint_with(slope))


def _better(best: _Chosen, more: _Chosen) -> _Chosen:
    """Return what has more functions if it lowers the log loss of held-out rows by enough."""
    gains = more.descent.ridge is not None and more.descent.loss < best.descent.loss - WORTH
    return more if gains else best


class _Chosen(NamedTuple):
    """What came of the search for a ridge, and the problems of all first rows."""

    descent: Descent
    problems: list[Problem]

    def thirds(self, before: Sequence[Third]) -> list[Third]:
        """Return thirds with the slopes of each added."""
        each = zip(before, self.problems, self.descent.found, strict=True)
        return [third._replace(joint=of.joint_with(slope)) for third, of, slope in each]


def _chosen(
    z: Sequence[NDArray[np.floating]],
    thirds: Sequence[Third],
    some: Labels,
    ridges: Sequence[float],
    enough: float,
) -> _Chosen:
    """Choose the ridge of slopes of functions of the rows, (rows, functions) for each third."""
    n = len(some)
    problems = [  # single precision is enough to choose
        Problem(third.joint, some, _beside_one(of[:n].astype(np.float32)))
        for third, of in zip(thirds, z, strict=True)
    ]
    runs = [Run.of(of, third) for of, third in zip(problems, thirds, strict=True)]
    return _Chosen(descend(runs, ridges, enough), problems)


def _beside_one(z: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return functions, and a last one of 1, whose slope is the intercept."""
    return np.vstack([z.T, np.ones((1, len(z)), z.dtype)]).T


def linear_part_of(
    slope: Floats, terms: Sequence[Term], products: Sequence[Product], ridge: float
) -> LinearPart:
    """Return slopes, (functions, classes), as a linear part.

    The functions are terms, then products; the last is the intercept.
    """
    *slopes, intercept = map(tuple, slope.tolist())
    return LinearPart(
        dict(zip(terms, slopes[: len(terms)], strict=True)),
        dict(zip(products, slopes[len(terms) :], strict=True)),
        intercept=intercept,
        ridge=ridge,
    )
