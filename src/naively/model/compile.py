"""Compile a model into its terms: the functions of the linear part join the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from naively.counting.axis import Axis, Levels
from naively.counting.block import BlockKey
from naively.kernels.reference import Floats
from naively.terms.functions import Above, Line, LinearPart, Step, Term, There, by_class
from naively.terms.kinds import (
    BesideTerms,
    BinTerms,
    ClippedTerms,
    LevelTerms,
    StepTerms,
    TermBlock,
)
from naively.terms.terms import GroupTerms
from naively.terms.words import LineTerms, WordTerms

# --- The terms of a group: its evidence, and the functions of its columns ------------------------
#
# What a table can hold joins it: steps of levels the table of levels, steps of numbers the bins of
# a histogram, and lines that clip no share those of shares. All else is added beside the evidence.

Sloping: TypeAlias = tuple[int, Line, Floats]  # a column, and slopes in nats for each unit of it
Sloped: TypeAlias = tuple[int, Term, Floats]  # a column's number, a term, and its slopes


def with_functions(
    evidence: TermBlock, linear: LinearPart, group: BlockKey, axis: Axis, places: Sequence[int]
) -> GroupTerms:
    """Return the terms of a group: its evidence, and the functions of its columns."""
    column = {name: j for j, name in enumerate(axis.columns)}
    terms = [
        (column[term.column], term, by_class(slopes, places))
        for term, slopes in linear.of.items()
        if term.group == group and term.column in column
    ]
    if not terms:
        return GroupTerms(evidence)
    if isinstance(evidence, LevelTerms) and isinstance(axis, Levels):
        return GroupTerms(_with_levels(evidence, terms, axis))
    beside: list[BesideTerms] = []
    if steps := _steps_of(terms):
        if isinstance(evidence, BinTerms):
            evidence = evidence.with_steps(steps)
        else:
            beside.append(StepTerms(steps, len(places)))
    lines = [
        (j, term.function, slope / term.function.scale)
        for j, term, slope in terms
        if isinstance(term.function, Line)
    ]
    if group.event.shares:
        evidence, lines = _with_straight(evidence, lines)
    if lines:
        lines.sort(key=lambda line: line[0])
        beside.insert(0, _clipped(lines))
    return GroupTerms(evidence, tuple(beside))


def _with_levels(evidence: LevelTerms, terms: Iterable[Sloped], axis: Levels) -> LevelTerms:
    """Return a table of levels with what is added to each."""
    added = np.zeros_like(evidence.table)
    for j, term, slope in terms:
        rows, function = added[evidence.first[j] : evidence.first[j + 1]], term.function
        if isinstance(function, There):
            rows += slope
        else:
            assert isinstance(function, Step)
            rows += np.outer(function.table(axis.index[j])[:-1], slope)
    return replace(evidence, table=evidence.table + added)


def _steps_of(terms: Iterable[Sloped]) -> dict[int, tuple[Floats, Floats]]:
    """Return what is added where numbers are there, or above an edge (see ``Steps``)."""
    steps: dict[int, dict[float, Floats]] = {}
    for j, term, slope in terms:
        if isinstance(term.function, Above | There):
            edge = term.function.edge if isinstance(term.function, Above) else -np.inf
            of_column = steps.setdefault(j, {})
            of_column[edge] = of_column.get(edge, 0.0) + slope
    found = {}
    for j, of_edge in steps.items():
        edges = np.array(sorted(of_edge))
        points = np.cumsum([of_edge[edge] for edge in edges.tolist()], axis=0)
        if edges[0] > -np.inf:
            points = np.vstack([0 * points[:1], points])
        found[j] = edges[edges > -np.inf], points
    return found


def _with_straight(evidence: TermBlock, lines: list[Sloping]) -> tuple[TermBlock, list[Sloping]]:
    """Return the evidence of numbers from 0 to 1 with the lines that it can hold, and the others.

    It can hold those that clip no such number, if it has offsets.
    """
    if isinstance(evidence, WordTerms) and lines and evidence.absent is not None:
        evidence = evidence.whole()
    if not isinstance(evidence, LineTerms) or evidence.offset is None:
        return evidence, lines
    slope, offset, others = evidence.slope.copy(), evidence.offset.copy(), []
    for column, line, of in lines:
        if line.low > 0 or line.high < 1:
            others.append((column, line, of))
        else:
            slope[column] += of
            offset[column] -= line.centre * of
    return replace(evidence, slope=slope, offset=offset), others


def _clipped(lines: Sequence[Sloping]) -> ClippedTerms:
    """Return lines, ascending by their columns, laid out to score rows."""
    return ClippedTerms(
        column=np.array([j for j, _, _ in lines], np.int64),
        low=np.array([line.low for _, line, _ in lines]),
        high=np.array([line.high for _, line, _ in lines]),
        centre=np.array([line.centre for _, line, _ in lines]),
        slope=np.array([slope for _, _, slope in lines]),
    )
