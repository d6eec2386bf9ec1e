"""Cells that are alike without their rows: which they are, by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from naively.counting.leave_one_out import WEIGHTS, LeftOut, different_cells
from tests.learning import coded, dense


@pytest.mark.parametrize("weights", [None, 1, 3, WEIGHTS + 1])
def test_cells_are_alike_that_have_one_level_class_and_weight(weights: int | None) -> None:
    rng = np.random.default_rng(0)
    n, k, units = 400, 3, 5
    weight = None if weights is None else 0.5 + rng.integers(0, weights, n)
    labels = coded(rng.integers(0, k, n), 3, weight)
    unit = rng.integers(0, units, n)
    cells = LeftOut.of(dense(rng.normal(size=(n, 1))), labels)
    first, of = different_cells(cells, unit, units)
    what = list(zip(unit, labels.codes, labels.weights, strict=True))
    assert [what[first[i]] for i in of] == what
    if weights != WEIGHTS + 1:  # else each is by itself
        assert len(first) == len(set(what))
        assert (first[of] <= np.arange(n)).all()
