"""Words have the weights of their band; printed weights go by the names of their columns."""

from __future__ import annotations

import numpy as np

from naively.counting.leave_one_out import Part, Parts
from naively.model.model import Weights

OF_WORDS = {Part("t", "text", i): (float(i), i + 10.0) for i in range(3)}
WEIGHTS = Weights(("x", "y"), {**OF_WORDS, Part("g", "a"): (7.0, 8.0)}, (0.0, 0.0), 1.0, 9.0)


def of_words(weights: Weights, texts: np.ndarray, classes: list[str], **by: bool) -> np.ndarray:
    """The weights of the words of a text by how many texts hold each."""
    parts = Parts.words("t", "text", texts, **by)
    return weights.table(parts.keys, classes)[parts.of_unit]


def test_words_have_the_weights_of_their_band_and_the_last_ones_beyond() -> None:
    texts = np.array([1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 900.0])
    found = of_words(WEIGHTS, texts, ["y", "x"], by_band=True)
    np.testing.assert_array_equal(found, [[i + 10, i] for i in (0, 1, 1, 2, 2, 2, 2)])


def test_words_of_a_text_that_was_not_there_have_the_weight_of_its_group_or_the_usual_one() -> None:
    assert WEIGHTS.groups == {"t", "g"}
    whole = Weights(("x",), {Part("t"): (0.5,)}, (0.0,), 1.5, 9.0)
    assert not whole.groups
    np.testing.assert_array_equal(of_words(whole, np.ones(1), ["x"], by_band=True), [[0.5]])
    np.testing.assert_array_equal(whole.table([Part("other", "text", 3)], ["x"]), [[1.5]])


def test_words_of_one_part_have_its_weights_however_often_they_come() -> None:
    one = Weights(("x", "y"), {Part("t", "text"): (0.5, 2.0)}, (0.0, 0.0), 1.0, 9.0)
    found = of_words(one, np.array([1.0, 64.0]), ["x", "y"], by_band=False)
    np.testing.assert_array_equal(found, [[0.5, 2.0]] * 2)


def test_weights_are_listed_by_column_or_by_a_group_that_is_one_event() -> None:
    weights = Weights(("x", "y"), {Part("g", 3): (1.0, 2.0), Part("one"): (0.5, 0.5)}, (0, 0), 1, 9)
    assert weights.by_name == {"x3": {"x": 1.0, "y": 2.0}, "one": {"x": 0.5, "y": 0.5}}
