"""What was fitted can be saved, and what was saved loads and predicts the same to the byte."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import BernoulliNB, CategoricalNB, Gaussian, GaussianNB, Histogram, NaiveBayes, load
from naively.counting.labels import MOST_BYTES
from tests.cases import CASES, Case
from tests.learning import learn_table
from tests.products import PRODUCTS, Product

X = [[1.0], [2.0], [7.0], [8.0]]


class Colour(StrEnum):
    red = "red"
    blue = "blue"


UTC = dt.UTC
KEPT: dict[str, Any] = {
    "strings of NumPy": np.array(["u", "v", "u", "v"], np.dtypes.StringDType()),
    "strings and None": np.array(["u", "v", "u", "v"], np.dtypes.StringDType(na_object=None)),
    "objects": np.array(["u", "v", "u", "v"], object),
    "names of an enum": [Colour.red, Colour.blue] * 2,
    "objects of an enum": np.array([Colour.red, Colour.blue] * 2, object),
    "dates": [dt.date(2024, 2, 29), dt.date(1, 1, 1)] * 2,
    "moments": [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1, 1, 1)] * 2,  # noqa: DTZ001
    "moments with a zone": [dt.datetime(2024, 2, d, tzinfo=UTC) for d in (28, 29)] * 2,
    "days of NumPy": np.array(["2024-02-29", "1969-01-01"] * 2, "datetime64[D]"),
    "nanoseconds": np.array(["2024-02-29T01:02:03.000000001", "1969-01-01"] * 2, "datetime64[ns]"),
    "bytes of numbers": np.array([1, 2, 1, 2], ">i2"),
    "short floats": np.array([1.0, 2.0, 1.0, 2.0], np.float16),
    "unsigned": np.array([0, 2**64 - 1] * 2, np.uint64),
    "large": [10**30, -(10**25)] * 2,
    "truths": [True, False] * 2,
    "surrogates": ["\ud800", "é\0x"] * 2,
    "long names": ["a" * 5000, "b"] * 2,
}  # fmt: skip
REFUSED: dict[str, Any] = {
    "bytes": [b"u", b"v"] * 2,
    "objects of bytes": np.array([b"u", b"v"] * 2, object),
    "decimals": [Decimal("0.1"), Decimal(2)] * 2,
    "durations": [dt.timedelta(1), dt.timedelta(2)] * 2,
    "durations of NumPy": np.array([1, 2, 1, 2], "timedelta64[s]"),
    "clocks": [dt.time(1), dt.time(2)] * 2,
    "complex": np.array([1j, 2j, 1j, 2j]),
    "long doubles": np.array([1, 2, 1, 2], np.longdouble),
    "tuples": np.fromiter([("a", 1), ("b", 2)] * 2, object, 4),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.naively"


def again(nb: Any, path: Path) -> Any:
    nb.save(path)
    return load(path)


@pytest.mark.parametrize("name", KEPT)
def test_labels_that_are_learned_come_back(name: str, path: Path) -> None:
    y = KEPT[name]
    nb = NaiveBayes().fit(X, y)
    loaded = again(nb, path)
    predicted = loaded.predict(X)
    assert predicted.dtype == nb.predict(X).dtype
    assert predicted.tolist() == nb.predict(X).tolist()
    assert set(predicted.tolist()) <= set(np.asarray(y).tolist())
    assert loaded.predict_proba(X).tobytes() == nb.predict_proba(X).tobytes()
    assert loaded.partial_fit(X, y).class_count_.tolist() == [4.0, 4.0]
    assert again(loaded.merge(nb), path).class_count_.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_labels_that_no_file_holds_are_refused_at_once(name: str, fit: str) -> None:
    message = "OneVsRest" if name == "tuples" else "strings, numbers or dates"
    with pytest.raises((TypeError, ValueError), match=message) as e:
        getattr(NaiveBayes(), fit)(X, REFUSED[name])
    assert "\n" not in str(e.value)
    if name == "bytes":
        for estimator in (GaussianNB(), BernoulliNB(), CategoricalNB()):
            with pytest.raises((TypeError, ValueError)):
                estimator.fit(X, REFUSED[name])


def test_labels_that_are_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="is y a column of texts"):
        NaiveBayes().fit(X, ["a" * (MOST_BYTES // 16 + 1), "b", "c", "d"])


@pytest.mark.parametrize(
    "labels",
    [
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
        [dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 2, tzinfo=UTC)],
        [np.str_("a"), "b"],
        [np.int64(3), np.int64(5)],
        [True, False],
    ],
)
def test_a_class_prior_by_label_comes_back(labels: list[Any], path: Path) -> None:
    nb = NaiveBayes(class_prior={labels[0]: 0.25, labels[1]: np.float32(0.75)}).fit(X, labels * 2)
    loaded = again(nb, path)
    assert loaded.class_prior == nb.class_prior
    assert loaded.predict_proba(X).tobytes() == nb.predict_proba(X).tobytes()


def test_options_that_are_numbers_of_numpy_come_back(path: Path) -> None:
    models = {"a": Histogram(bins=np.int64(4), m=np.float32(0.5)), "b": Gaussian(floor=np.int8(1))}
    nb = NaiveBayes(models).fit({"a": [1.0, 2.0, 3.0], "b": [1.0, 4.0, 2.0]}, ["u", "v", "u"])
    loaded = again(nb, path)
    assert loaded.schema_ == nb.schema_
    assert loaded.merge(nb).class_count_.tolist() == [4.0, 2.0]


def test_an_event_model_of_ones_own_is_refused_by_name(path: Path) -> None:
    class Mine(Gaussian):
        name = "mine"

    nb = NaiveBayes(Mine()).fit(X, ["u", "v"] * 2)
    with pytest.raises(TypeError, match="A model file cannot hold the event model Mine"):
        nb.save(path)
    assert not path.exists()


@pytest.mark.parametrize("product", PRODUCTS, ids=repr)
def test_what_verbs_make_is_loaded(product: Product, path: Path) -> None:
    """Merged, forgotten, decayed and weighted models predict the same to the byte."""
    a, b = product.table(1, weights=True), product.table(2)
    nb = product.fit(a).merge(product.fit(b)).decay(1 / 3)
    rest = product.fit(a).merge(product.fit(b)).forget(*b.labelled)
    for made in (nb, rest, product.fit(a).forget(*a.labelled).merge(rest).decay(1e-30)):
        loaded = again(made, path)
        assert loaded.schema_ == made.schema_
        assert loaded.weights_ == made.weights_
        assert loaded.predict_proba(a.X).tobytes() == made.predict_proba(a.X).tobytes()
        assert loaded.score_samples(b.X).tobytes() == made.score_samples(b.X).tobytes()


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_nothing_at_all_is_loaded(case: Case, path: Path) -> None:
    """What is left when all is forgotten is a model too."""
    from naively.file import store

    cells = [None, None] if isinstance(case.event, dict) else case.column([None, None])
    if isinstance(case.event, dict) or (not case.text and not case.numbers):
        return
    X = ["", "one two"] if case.text else {"c0": np.array(cells)}
    model = learn_table(X, ["u", "v"], case.event)
    for left in (model, model - model):
        store.save(left, path)
        assert store.load_all(path).model.classes.tolist() == left.classes.tolist()


def test_what_forgetting_would_leave_impossible_is_refused(path: Path) -> None:
    """So that every model that is left can be saved and loaded."""
    nb = NaiveBayes("gaussian").fit({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 9.0]}, ["u", "u", "v"])
    with pytest.raises(ValueError, match=r"were not learned: more cells than rows in column 'b'"):
        nb.forget({"a": [2.0], "b": [None]}, ["u"])
    assert again(nb, path).class_count_.tolist() == [2.0, 1.0]
