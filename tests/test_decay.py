"""Decay is learning again with smaller sample weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import CASES, Case
from tests.laws import Sample, assert_same, samples


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_decay_is_learning_with_smaller_weights(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    half = Sample(case, sample.columns, sample.y, np.full(len(sample), 0.5))
    assert_same(sample.model * 0.5, half.model, sample.rows)
