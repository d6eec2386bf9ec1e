"""Labels and sample weights in other shapes and of other types than expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Gaussian, GaussianNB, NaiveBayes
from naively.counting.labels import as_classes, encode_labels

X = [[1.0], [2.0], [7.0]]


def fitted(y, sample_weight=None):
    return NaiveBayes(Gaussian(), weights=None).fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.zeros((3, 2)), ValueError, r"one label a row, got an array of shape \(3, 2\)"),
        (5, TypeError, "one label a row, got 5"),
        ([object(), object(), object()], TypeError, "labels cannot be sorted"),
        (["a", 1, "a"], TypeError, "Labels must be of one type.*int and str"),
    ],
)
def test_labels_that_are_none(y, error, message):
    with pytest.raises(error, match=message):
        fitted(y)


def test_one_weight_for_all_rows_is_that_weight_for_each():
    assert fitted([0, 0, 1], 2.5).class_count_.tolist() == [5.0, 2.5]
    for wrong, shape in (([1, 2], r"\(2,\)"), ([[1, 1, 1]], r"\(1, 3\)")):
        with pytest.raises(ValueError, match=rf"shape \(3,\), got {shape}"):
            fitted([0, 0, 1], wrong)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1j], [2.0], [3.0]]), "Complex data not supported"),
        (np.zeros((3, 1), "V3"), "An array of .*V3.* cannot be read as a table"),
        (np.zeros((3, 1, 1)), r"Expected 2D array, got 3D array"),
    ],
)
def test_arrays_that_are_no_table(array, message):
    with pytest.raises(ValueError, match=message):
        NaiveBayes().fit(array, ["a", "b", "a"])


@pytest.mark.filterwarnings("ignore:'' is learned as a class")
@pytest.mark.parametrize("estimator", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize(
    "labels",
    [
        np.array([5, 3, 5, 9]), np.array([-5, 3, -5, 9], np.int8),
        np.array([250, 3, 250, 9], np.uint8), np.array([2**63, 3, 2**63, 2**62], np.uint64),
        np.array([2**62, -(2**62), 0, 2**62]), np.array([True, False, True, True]),
        np.array([5.0, -3.0, 5.0, 0.0]), np.array([-0.0, 1e300, 0.0, 2.0]),
        np.array([5.0, 3.0, 5.0, 9.0], np.float32)[::-1], np.array(["b", "a", "longer", "b"]),
        np.array(["b", "a", "longer", "b"])[::2], np.array(["é", "", "日本", "é"]),
        np.array(["b", "a", "longer", "b"], object), np.array([5, 3, 5, 9], ">i8"),
        np.array(["b", "a", "c", "b"]).astype(">U1"),
    ],
    ids=str,
)  # fmt: skip
def test_codes_are_those_of_numpy(labels: np.ndarray, estimator) -> None:
    # np.unique sorts all labels; here only the classes are.
    expected, codes = np.unique(labels, return_inverse=True)
    found = encode_labels(labels)
    np.testing.assert_array_equal(found.classes, expected)
    np.testing.assert_array_equal(found.codes, codes)
    if found.rows_of is not None:
        np.testing.assert_array_equal(found.rows_of, np.bincount(codes))
    X = np.arange(len(labels), dtype=float)[:, None]
    nb = estimator(**({"weights": None} if estimator is NaiveBayes else {})).fit(X, labels)
    np.testing.assert_array_equal(nb.classes_, expected)
    np.testing.assert_array_equal(nb.class_count_, np.bincount(codes))


@pytest.mark.parametrize("kind", [NaiveBayes, GaussianNB])
@pytest.mark.parametrize(
    "several",
    [
        [["a"], ["b", "c"], ["a"]],
        [["a", "b"], ["b", "c"], ["a", "c"]],
        [("a", "b"), ("c",), ()],
        [{"a"}, {"b"}, {"a", "b"}],
        sparse.csr_matrix([[0, 1], [1, 0], [0, 1]]),
        np.array([[0, 1], [1, 0], [0, 1]]),
    ],
    ids=["ragged", "lists", "tuples", "sets", "sparse", "indicators"],
)
def test_several_labels_of_a_row_are_refused_in_a_sentence(kind: Any, several: Any) -> None:
    message = "OneVsRestClassifier.*argmax"
    if kind is GaussianNB and isinstance(several, np.ndarray):
        message = "1d array"  # scikit-learn's own words, which its tests ask for
    if kind is GaussianNB and sparse.issparse(several):
        message = "Sparse data was passed for y"
    with pytest.raises((ValueError, TypeError), match=message):
        kind().fit([[1.0], [2.0], [3.0]], several)


def test_a_column_of_labels_in_lists_is_one_label_a_row() -> None:
    with pytest.warns(UserWarning, match="column-vector"):
        nb = NaiveBayes().fit([[1.0], [2.0], [3.0]], np.array([[1], [2], [1]]))
    assert nb.classes_.tolist() == [1, 2]
    assert NaiveBayes().fit([[1.0], [2.0], [3.0]], [[1], [2], [1]]).classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a", "NA", "b"], "'NA' is learned as a class like others: if it means that there is no"),
        (["a", "", "b"], "'' is learned as a class"),
        (["a", "b", "?"], "'\\?' is learned as a class"),
        (["yes", "no", "Yes"], "'Yes' and 'yes' are learned as two classes, though they differ in"),
        (["a ", "a", "b"], "'a' and 'a ' are learned as two classes"),
        (["a", "A", "b"], ""),
        (["+", "-", "."], ""),
        (["none", "mild", "severe"], ""),
    ],
)
def test_odd_labels_are_said(labels: list[str], said: str) -> None:
    table = {"x": list(range(12))}
    if said:
        with pytest.warns(UserWarning, match=said):
            NaiveBayes().fit(table, labels * 4)
    else:
        NaiveBayes().fit(table, labels * 4)  # a warning would be an error


@pytest.mark.parametrize(
    ("written", "classes", "meant"),
    [
        (["true", "False", None], [False, True], [True, False, None]),
        (["1", "2.0", "007", "8", "new"], [1, 2, 7], [1, 2, 7, 8, "new"]),
        (["1"], ["1.0"], ["1"]),
    ],
)
def test_a_text_that_spells_a_value_of_the_kind_of_the_classes_is_it(written, classes, meant):
    assert as_classes(np.array(written, object), np.array(classes)).tolist() == meant
