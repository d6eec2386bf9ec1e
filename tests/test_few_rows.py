"""One row, and a few, are predicted as among all the others, whatever they come in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from naively import NaiveBayes
from naively.fitting import sample

ROWS = 90


def _table(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Columns of each kind, with missing cells, and levels that are rare."""

    def some(cells: list[Any]) -> list[Any]:
        return [None if u < 0.1 else cell for u, cell in zip(rng.random(ROWS), cells, strict=True)]

    words = np.array(["red", "", "blå", "of more than twelve bytes", "x" * 40])
    return {
        "word": some(words[rng.integers(0, 5, ROWS)].tolist()),
        "letter": some(list(map(chr, rng.integers(97, 123, ROWS)))),
        "number": some(rng.normal(size=ROWS).tolist()),
        "whole": rng.integers(0, 9, ROWS).tolist(),
        "truth": some((rng.random(ROWS) < 0.5).tolist()),
    }


def _records(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "objects": lambda table: pd.DataFrame(
        {name: pd.Series(cells, dtype=object) for name, cells in table.items()}
    ),
    "arrow": lambda table: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "records": _records,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_one_row_is_predicted_as_among_others(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    model = NaiveBayes(event_models={"letter": "categorical"}).fit(_table(rng), y)
    unseen = _table(rng)
    unseen["letter"][:3] = ["never seen", "é", "A"]
    every = model.predict_joint_log_proba(unseen)
    X = FRAMES[kind](unseen)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), every, rtol=1e-12)
    for few in (1, 7, 8, 9, 32, 33):
        for start in range(0, ROWS - few, 17):
            found = model.predict_joint_log_proba(X[start : start + few])
            np.testing.assert_allclose(found, every[start : start + few], rtol=1e-12)


@pytest.mark.parametrize("few", [3, 20])
def test_bytes_that_are_no_utf8_are_replaced_in_a_few_strings(few: int) -> None:
    import pyarrow as pa

    offsets = pa.py_buffer(np.arange(few + 1, dtype=np.int32).tobytes())
    utf8 = pa.py_buffer(b"a" * (few - 1) + b"\xff")
    broken = pa.Array.from_buffers(pa.string(), few, [None, offsets, utf8])
    model = NaiveBayes("categorical").fit({"c": ["a", "�", "b"]}, ["a", "replaced", "b"])
    frame = pd.DataFrame({"c": pd.Series(broken, dtype=pd.ArrowDtype(pa.string()))})
    strings = pd.DataFrame({"c": pd.array(pa.chunked_array([broken]), dtype="string[pyarrow]")})
    for X in (frame, strings):
        with pytest.warns(UserWarning, match="invalid UTF-8"):
            assert model.predict(X).tolist() == ["a"] * (few - 1) + ["replaced"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_frame_of_floats_is_its_matrix(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)).astype(dtype), rng.integers(0, 2, 60)
    X[::7, 1] = np.nan
    X[:, 3] = np.nan
    names = list("abcd")
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    frames.append(pd.concat([frames[0][["a"]], frames[0][["b", "c", "d"]]], axis=1))
    models = [NaiveBayes(weights=None).fit(frame, y) for frame in frames]
    expected = models[0].predict_proba(frames[1])
    for model, frame in zip(models, frames, strict=True):
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        NaiveBayes().fit(pd.DataFrame(X, columns=list("abca")), y)


@pytest.mark.parametrize("event", ["auto", "multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize(
    "labels", [["yes"] * 2 + ["no"] * 3, ["yes"] * 3 + ["no"] * 4, ["yes"] * 5 + ["no"] * 6]
)
def test_of_words_that_came_once_each_speaks_for_its_class(event: str, labels: list[str]) -> None:
    """Leaving one out would choose an infinite pseudo-count: no word came again."""
    words = [f"word{chr(97 + i)}" for i in range(len(labels))]
    nb = NaiveBayes(event, weights=None).fit(words, labels)
    assert nb.predict(words).tolist() == labels
    p = nb.predict_proba(["unheard"])[0]
    assert ((p > 0.3) & (p < 0.7)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "shift"), [(300, 0.0), (1000, 0.0), (1000, 4.0)])
def test_of_many_columns_what_says_nothing_is_the_class_prior(columns: int, shift: float) -> None:
    """Of 60 rows; and one column that tells the classes apart is found among the others."""
    prior, losses = np.log(2), []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 560)
        X = rng.normal(size=(560, columns))
        X[:, 7] += shift * (y - 0.5)
        nb = NaiveBayes().fit(X[:60], y[:60])
        losses.append(nb.evaluate(X[60:], y[60:]).log_loss)
    # Of more columns than functions are made of, those that are taken must gain more.
    assert np.mean(losses) < prior * (0.75 if shift else 1.2 if columns < 1000 else 1.08)


@pytest.mark.parametrize("k", [2, 3])
def test_what_says_little_has_one_temperature_beside_the_prior(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in all weights, biases and slopes; rows that come twice are as frequencies say."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % k
    times = 1 + (np.arange(60) % 5 == 0)
    counted = NaiveBayes().fit(X, y, frequencies=times)
    repeated = NaiveBayes().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(counted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)
    models = [NaiveBayes().fit(X, y)]
    order = rng.permutation(60)
    np.testing.assert_allclose(
        NaiveBayes().fit(X[order], y[order]).predict_proba(X), models[0].predict_proba(X), rtol=1e-6
    )
    monkeypatch.setattr(sample, "FEW_ROWS", 0)
    models.append(NaiveBayes().fit(X, y))
    few, usual = (nb.predict_joint_log_proba(X) - nb.model_.class_log_prior for nb in models)
    few, usual = (of - of.mean(axis=1, keepdims=True) for of in (few, usual))
    by = float((few * usual).sum() / (usual * usual).sum())
    assert by < 0.9
    np.testing.assert_allclose(few, by * usual, rtol=1e-9, atol=1e-12)


def test_of_two_rows_and_of_a_class_of_one_row_a_temperature_is_found() -> None:
    rng = np.random.default_rng(0)
    for y in (["a", "b"], ["a"] * 7 + ["b"], [*"abcdefgh"]):
        X = rng.normal(size=(len(y), 2))
        groups = np.arange(len(y)) // 2 + (np.arange(len(y)) == 1)  # two of them at least
        beside: tuple[dict[str, Any], ...] = (
            {},
            {"groups": groups},
            {"sample_weight": np.arange(len(y)) + 0.0},
        )
        for given in beside:
            p = NaiveBayes().fit(X, y, **given).predict_proba(X)
            assert np.isfinite(p).all()
