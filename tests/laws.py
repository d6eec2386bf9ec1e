"""What the laws need: labelled tables of a case, models of them, and when two models are one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from naively import Model
from naively.counting.labels import encode_labels
from naively.data.columns import Rows, column_rows
from naively.data.frames import as_rows
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import SparseSums
from tests.cases import Case
from tests.learning import learn

CLASSES = ["a", "b", "c"]


@dataclass
class Sample:
    """A labelled table of a case's columns."""

    case: Case
    columns: dict[str, np.ndarray]
    y: np.ndarray
    weight: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Any) -> Sample:
        columns = {name: column[index] for name, column in self.columns.items()}
        weight = None if self.weight is None else self.weight[index]
        return Sample(self.case, columns, self.y[index], weight)

    @property
    def rows(self) -> Rows:
        if self.case.text:
            return as_rows(next(iter(self.columns.values())).tolist())
        return column_rows(
            self.columns, {name: self.case.cells(name).kind for name in self.columns}
        )

    @property
    def model(self) -> Model:
        labels = encode_labels(self.y, self.weight)
        return learn(self.rows, labels, self.case.event, self.case.settings)

    def only(self, names: Iterable[str]) -> Sample:
        return replace(self, columns={name: self.columns[name] for name in names})

    def missing(self, n: int) -> dict[str, np.ndarray]:
        """Return as many cells of each column, all missing."""
        return {name: self.case.cells(name).column([None] * n) for name in self.columns}


@st.composite
def samples(
    draw: Any, case: Case, least: int = 1, missing: bool = True, weights: bool = False
) -> Sample:
    """Draw a labelled table; with two parts needed, at least two rows."""
    n = draw(st.integers(least, 12))
    if isinstance(case.event, Mapping):
        names = list(case.event)
    else:
        names = [f"c{j}" for j in range(1 if case.text else draw(st.integers(1, 3)))]
    columns = {}
    for name in names:
        of = case.cells(name)
        cell = of.cell | st.none() if missing else of.cell
        columns[name] = of.column(draw(st.lists(cell, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from(CLASSES), min_size=n, max_size=n)))
    weight = None
    if weights:
        one = st.sampled_from([0.0, 1.0, 2.0, 0.3, 7.25])
        weight = np.array(draw(st.lists(one, min_size=n, max_size=n)))
    return Sample(case, columns, y, weight)


def assert_same(a: Model, b: Model, rows: Rows, scale: float = 1e13) -> None:
    """Two models are one: the difference of their tallies is nothing, and they answer alike."""
    assert a.classes.tolist() == b.classes.tolist()
    zero = a.counted.tally - b.counted.tally
    left = [zero.weight, *(sums for block in zero.blocks.values() for sums in block.sums.values())]
    for sums in left:
        assert isinstance(sums, Sums | SparseSums)
        assert np.abs(sums.high).max(initial=0.0) <= 1e-28 * scale
    if len(a.classes):
        mine, theirs = a.joint_log_likelihood(rows), b.joint_log_likelihood(rows)
        finite = np.isfinite(mine)
        assert (finite == np.isfinite(theirs)).all()
        size = 1 + np.abs(mine[finite]).max(initial=0.0)
        np.testing.assert_allclose(mine[finite], theirs[finite], rtol=0, atol=1e-9 * size)
