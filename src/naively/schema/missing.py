"""Missing cells as evidence: whether each cell of a column is there.

How many rows of a class have no value in a column is counted already: it is the rows of the class
less the cells that are present. So nothing is counted again, and the counts merge, forget and fade
with those of the columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.counting.axis import LEVEL, Levels, Name
from naively.counting.tally import BlockTally
from naively.events import Categorical
from naively.kernels.double_double import Sums
from naively.schema.derived import Missing
from naively.schema.diagnose import present_in, says_which_are_missing
from naively.schema.group import Group
from naively.schema.settle import Counted

MOST = 1_000  # columns that have such evidence; of more, those with most missing cells
EVENT = Categorical(m=2.0)  # shrunk towards the share of all classes, as few cells may be missing
ROUNDING = 1e-20  # of the rows: sums of fractional weights are right to about 1e-30 of them


def with_missing(counted: Counted) -> Counted:
    """Return the schema and the tally with a derived column for each that has missing cells.

    A column that follows from others has none, nor have the columns of a bag of counts or of whole
    rows, which are one event together.
    """
    schema, tally = counted
    missing: dict[Name, tuple[Sums, Sums]] = {}
    for group in schema.of_columns:
        if group.derived or not says_which_are_missing(group):
            continue
        block = tally.blocks[group.key]
        there, number = present_in(block)
        lacking = Sums(*(np.broadcast_to(of, there.shape) for of in vars(tally.weight).values()))
        lacking -= there
        least = ROUNDING * tally.class_count
        some = np.any(lacking.high > least, axis=1) & np.any(there.high > 0, axis=1)
        for j in np.flatnonzero(some[number]).tolist():
            row = number[j]
            missing.setdefault(block.axis.columns[j], (there[row], lacking[row]))
    if not missing:
        return counted
    if len(missing) > MOST:
        most = set(sorted(missing, key=lambda name: -missing[name][1].high.sum())[:MOST])
        missing = {name: of for name, of in missing.items() if name in most}
    columns = tuple(map(Missing, missing))
    table = [row for both in missing.values() for row in both]
    sums = Sums(np.stack([row.high for row in table]), np.stack([row.low for row in table]))
    group = Group(EVENT, "missing", columns)
    levels = BlockTally(Levels.of_all(columns, whole=False), {LEVEL: sums})
    return Counted(
        replace(schema, groups=(*schema.groups, group)),
        replace(tally, blocks={**tally.blocks, group.key: levels}),
    )
