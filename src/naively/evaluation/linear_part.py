"""Fitting the linear part: lines and steps of the columns, added where held-out rows gain.

The functions are the numbers, clipped at their quantiles and standardised, and indicators of the
commonest levels. Their slopes are fitted on top of the weighted leave-one-out evidence, by ridge.
The ridge is the one of least log loss on held-out thirds of the sample; where none improves it,
nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch, Block, Codes, Dense
from naively.counting.labels import Labels
from naively.counting.parts import Part
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.ridge import Problem, Solution, solve
from naively.events import Bernoulli
from naively.kernels.reference import Floats
from naively.model.linear_part import Line, LinearPart, Step, Term
from naively.model.model import Model
from naively.model.weights import Weights
from naively.schema.group import Group

TAILS = 0.005  # of the numbers, on each side, are clipped
LEVELS = 8  # of a column, at most, the commonest
IN_LEVEL = 5.0  # rows of a level, at least
LEAST_SCALE = 0.2  # of an indicator, so that a rare level has no large values
FUNCTIONS = 256  # at most: of the columns that say most
RIDGES = (1000.0, 200.0, 40.0, 8.0, 1.6, 0.3, 0.06)
PATIENCE = 2  # ridges that are no better than the best, after which no weaker one is tried
THIRDS = 3
FEW = 2_000  # rows, below which each third is held out in turn
LARGEST = 1e150  # a number, whose square is finite
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of the columns, on the rows of a sample.

    Parameters
    ----------
    terms : list of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values; 0 where a cell is missing.
    """

    terms: list[Term]
    z: Floats


def with_linear_part(
    model: Model, weights: Weights, found: LeaveOneOut, batches: Sequence[Batch]
) -> Weights:
    """Return weights with a linear part, where it lowers the log loss of held-out rows.

    Parameters
    ----------
    model : Model
        What the weights are of.
    weights : Weights
        Of the evidence.
    found : LeaveOneOut
        The leave-one-out table that they were fitted to.
    batches : sequence of Batch
        The rows of the table, as the model encodes them.
    """
    basis = basis_of(model, weights, found, batches)
    if not basis.terms:
        return weights
    classes = weights.classes
    joint = found.joint(weights.table(found.parts, classes)) + weights.bias_of(classes)
    none = np.empty((*joint.shape, 0))
    problem = Problem(joint, found.labels, with_intercept(basis.z), none)
    ridge, start = best_ridge(problem)
    if ridge is None:
        return weights
    added = solve(problem, ridge, 0.0, start, 80)
    return with_slopes(weights, basis.terms, added.slope, ridge)


def with_slopes(weights: Weights, terms: Sequence[Term], slope: Floats, ridge: float) -> Weights:
    """Return weights with a linear part; the last slope is that of the intercept."""
    *of_terms, intercept = map(tuple, slope.tolist())
    of = dict(zip(terms, of_terms, strict=True))
    return replace(weights, linear=LinearPart(of, {}, intercept, ridge))


def with_intercept(z: Floats) -> Floats:
    """Return functions, (rows, functions), with one more that is 1 throughout."""
    return np.hstack([z, np.ones((len(z), 1))])


def best_ridge(problem: Problem) -> tuple[float | None, Solution]:
    """Return the ridge of least log loss on held-out rows, None if none lowers it, and a start."""
    runs = [(problem.take(rest), problem.take(third)) for rest, third in held_out(problem.labels)]
    nothing = Solution.nothing(problem.z.shape[1], problem.labels.k)
    best, least, bad = RIDGES[0], np.inf, 0
    kept = found = [nothing] * len(runs)
    for ridge in RIDGES:
        found = [
            solve(rest, ridge, 0.0, start) for (rest, _), start in zip(runs, found, strict=True)
        ]
        loss = sum(third.loss(of) for (_, third), of in zip(runs, found, strict=True))
        if loss < least:
            least, best, bad, kept = loss, ridge, 0, found
        else:
            bad += 1
            if bad == PATIENCE:
                break
    # The strongest ridges may be worse than nothing where weaker ones are better: the weights of
    # the evidence were fitted to the rows held out too.
    helps = least < sum(third.loss(nothing) for _, third in runs)
    start = Solution(np.mean([of.slope for of in kept], axis=0), np.empty(0))
    return (best if helps else None), start


def held_out(labels: Labels) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit, and a third to hold out: each third of few rows, else the first.

    All copies of a row are in one third, so that a row of weight 2 is the row twice.
    """
    order = np.random.default_rng(0).permutation(len(labels))
    by_class = order[np.argsort(labels.codes[order], kind="stable")]
    third = np.empty(len(order), np.int64)
    third[by_class] = np.arange(len(order)) % THIRDS
    times = THIRDS if labels.weights.sum() < FEW else 1
    return [(np.flatnonzero(third != t), np.flatnonzero(third == t)) for t in range(times)]


def basis_of(model: Model, weights: Weights, found: LeaveOneOut, batches: Sequence[Batch]) -> Basis:
    """Return the functions of the columns, at most ``FUNCTIONS``, and their values on the rows."""
    by_batch = [model.blocks(batch) for batch in batches]
    rows = found.labels.weight
    of_column: list[tuple[Part, list[tuple[Term, Floats]]]] = []
    for group in model.schema.of_columns:
        if group.event.joined or group.analyser or group.event.layout == "rows":
            continue
        block = _joined([blocks[group.key] for blocks in by_batch])
        for j, name in enumerate(block.axis.columns if block else ()):
            assert block is not None
            part = Part(group.key, name)
            functions = [
                (Term(group.key, name, function), function.of(block, j))
                for function in _functions(group, block, j, rows)
            ]
            of_column.append((part, functions))
    if sum(len(functions) for _, functions in of_column) > FUNCTIONS:
        said = _said(weights, found)
        of_column.sort(key=lambda column: -said.get(column[0], 0.0))
    every = [of for _, functions in of_column for of in functions][:FUNCTIONS]
    z = (
        np.stack([value for _, value in every], axis=1)
        if every
        else np.empty((len(found.prior), 0))
    )
    return Basis([term for term, _ in every], z)


def _joined(blocks: Sequence[Block]) -> Block | None:
    """Return the rows of all batches as one block; None unless all are dense."""
    if all(isinstance(block, Dense) for block in blocks):
        return blocks[0].followed_by(blocks[1:]) if len(blocks) > 1 else blocks[0]
    if all(isinstance(block, Codes) for block in blocks):
        return blocks[0].followed_by(blocks[1:]) if len(blocks) > 1 else blocks[0]
    return None


def _said(weights: Weights, found: LeaveOneOut) -> dict[Part, float]:
    """Return how much evidence each part gives, on average."""
    weight = weights.table(found.parts, weights.classes)
    said = [np.abs(table * w).mean() for table, w in zip(found.table, weight, strict=True)]
    return dict(zip(found.parts, map(float, said), strict=True))


def _functions(group: Group, block: Block, column: int, weight: Floats | None) -> list[Line | Step]:
    """Return the functions of a column: a line, or steps of its commonest levels."""
    if isinstance(block, Codes):
        return _steps(block, column, weight)
    assert isinstance(block, Dense)
    x = np.asarray(block.values[:, column], np.float64)
    line = _line(x, weight, indicator=isinstance(group.event, Bernoulli))
    return [] if line is None else [line]


def _line(x: Floats, weight: Floats | None, *, indicator: bool) -> Line | None:
    """Return numbers as a line, clipped at their tails; None if they do not differ."""
    there = ~np.isnan(x)
    if not there.all():
        x, weight = x[there], None if weight is None else weight[there]
    if not len(x):
        return None
    x = np.clip(x, -LARGEST, LARGEST)
    low, high = _quantiles(x, weight)
    if not low < high:
        low, high = float(x.min()), float(x.max())
    x = np.clip(x, low, high)
    centre = float(np.average(x, weights=weight))
    scale = float(np.sqrt(np.average(np.square(x - centre), weights=weight)))
    if not scale > ROUNDING * max(abs(low), abs(high)):
        return None
    return Line(low, high, centre, max(scale, LEAST_SCALE * (high - low)) if indicator else scale)


def _quantiles(x: Floats, weight: Floats | None) -> tuple[float, float]:
    """Return the numbers that a share ``TAILS`` of the weight is at most, and at least."""
    if weight is None:
        places = [int(TAILS * len(x)), len(x) - 1 - int(TAILS * len(x))]
        low, high = np.partition(x, places)[places]
        return float(low), float(high)
    order = np.argsort(x, kind="stable")
    total = np.cumsum(weight[order])
    limits = np.array([TAILS, 1 - TAILS]) * total[-1]
    first = int(np.searchsorted(total, limits[0] * (1 + ROUNDING), side="right"))
    last = int(np.searchsorted(total, limits[1] * (1 - ROUNDING)))
    return float(x[order[min(first, len(x) - 1)]]), float(x[order[min(last, len(x) - 1)]])


def _steps(block: Codes, column: int, weight: Floats | None) -> list[Line | Step]:
    """Return indicators of the commonest levels of a column; of two levels, one indicator."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    there = (code >= 0) & (code < len(levels))
    rows = np.bincount(code[there], None if weight is None else weight[there], len(levels)).astype(
        np.float64
    )
    total = rows.sum()
    best = np.argsort(-rows, kind="stable")[:LEVELS]
    best = best[rows[best] >= IN_LEVEL * (1 - ROUNDING)]
    if (rows > 0).sum() <= 2:
        best = best[: int((rows > 0).sum()) - 1]
    found: list[Line | Step] = []
    for at in best.tolist():
        share = rows[at] / total
        scale = max(float(np.sqrt(share * (1 - share))), LEAST_SCALE)
        found.append(Step(levels[at], float(share), scale))
    return found
