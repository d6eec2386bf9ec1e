"""Missing cells as evidence: whether each cell of a column is there.

How many rows of a class have no value in a column is counted already: it is the rows of the class
less the cells that are present. So nothing is counted again, and the counts merge, forget and fade
with those of the columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.counting.axis import ByValue, Levels
from naively.counting.names import Name
from naively.counting.statistic import LEVEL, PRESENT
from naively.counting.tally import BlockTally
from naively.events import Categorical
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.schema.derived import Missing
from naively.schema.group import Group
from naively.schema.settle import Counted

MOST = 1_000  # columns that have such evidence; of more, those with most missing cells
ROUNDING = 1e-9  # of the rows: what is left of a difference of sums of weights


def with_missing(counted: Counted) -> Counted:
    """Return the schema and the tally with a derived column for each that has missing cells.

    A column that follows from others has none, nor have the columns of a bag of counts or of whole
    rows, which are one event together.
    """
    schema, tally = counted
    rows = tally.class_count
    missing: dict[Name, tuple[Floats, Floats]] = {}
    for group in schema.of_columns:
        whole = group.event.layout == "rows" or (group.event.joined and not group.analyser)
        if whole or group.derived:
            continue
        block = tally.blocks[group.key]
        there = _present(block)
        lacking = rows - there
        lacking[np.abs(lacking) <= ROUNDING * rows] = 0.0
        some = (lacking > 0).any(axis=1) & (there > 0).any(axis=1)
        for j in np.flatnonzero(some).tolist():
            missing.setdefault(block.axis.columns[j], (there[j], np.maximum(lacking[j], 0.0)))
    if not missing:
        return counted
    if len(missing) > MOST:
        most = set(sorted(missing, key=lambda name: -missing[name][1].sum())[:MOST])
        missing = {name: of for name, of in missing.items() if name in most}
    columns = tuple(map(Missing, missing))
    table = np.stack([row for both in missing.values() for row in both])
    group = Group(Categorical(), "missing", columns)
    levels = BlockTally(Levels.of_all(columns, whole=False), {LEVEL: Sums(table)})
    return Counted(
        replace(schema, groups=(*schema.groups, group)),
        replace(tally, blocks={**tally.blocks, group.key: levels}),
    )


def _present(block: BlockTally) -> Floats:
    """Return how many rows of each class have a value in each column, (columns, classes)."""
    axis = block.axis
    if isinstance(axis, ByValue):
        return axis.sum_by_column(block[axis.statistic].high)
    return np.asarray(block[PRESENT].high)
