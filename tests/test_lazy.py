"""Predictions of tables that are not in memory are those of the whole, whatever the batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import NotFittedError

from naively import GaussianNB, NaiveBayes
from naively.wings.files import opened
from tests.in_batches import joined
from tests.test_streams import SOURCES, frame, source

VERBS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lazy")
    pq.write_table(frame().to_arrow(), path / "t.parquet", row_group_size=250)
    return path


@pytest.fixture(scope="module")
def whole() -> pl.DataFrame:
    return frame()


@pytest.fixture(scope="module")
def nb(whole: pl.DataFrame) -> NaiveBayes:
    return NaiveBayes().fit(whole, "target")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", SOURCES)
def test_a_lazy_prediction_is_that_of_the_whole(
    nb: NaiveBayes, whole: pl.DataFrame, name: str, verb: str, folder: Path
) -> None:
    expected = getattr(nb, verb)(whole)
    found = joined(getattr(nb, verb)(source(name, folder)))
    assert len(found) == len(expected)
    np.testing.assert_array_equal(found, expected)


def test_an_ibis_table(nb: NaiveBayes, whole: pl.DataFrame, folder: Path) -> None:
    table = ibis.polars.connect().read_parquet(folder / "t.parquet")
    found = joined(nb.predict_proba(table))
    np.testing.assert_array_equal(found, nb.predict_proba(whole))


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 53, 401, 10_000])
def test_batches_do_not_show(nb: NaiveBayes, whole: pl.DataFrame, rows: int) -> None:
    tables = (whole[start : start + rows] for start in range(0, len(whole), rows))
    found = list(nb.predict_proba(tables))
    assert [len(p) for p in found[:-1]] == [rows] * (len(found) - 1)
    np.testing.assert_array_equal(np.concatenate(found), nb.predict_proba(whole))


def test_options_are_those_of_the_whole(nb: NaiveBayes, whole: pl.DataFrame) -> None:
    prior = {"yes": 0.5, "no": 0.25, "perhaps": 0.25}
    found = joined(nb.predict_proba(whole.lazy(), class_prior=prior))
    np.testing.assert_array_equal(found, nb.predict_proba(whole, class_prior=prior))
    for options in ({"reject": 0.6}, {"cost": {"yes": {"no": 5}}}, {"reject": None}):
        found = joined(nb.predict(whole.lazy(), **options))
        assert found.tolist() == nb.predict(whole, **options).tolist()
        found = joined(nb.predict(iter([whole]), **options))
        assert found.tolist() == nb.predict(whole, **options).tolist()


def test_a_lazy_frame_is_a_lazy_frame(nb: NaiveBayes, whole: pl.DataFrame, folder: Path) -> None:
    lazy = pl.scan_parquet(folder / "t.parquet")
    p = nb.predict_proba(lazy)
    assert isinstance(p, pl.LazyFrame)
    assert p.collect_schema() == {f"p({label})": pl.Float64 for label in nb.classes_}
    assert nb.predict(lazy).collect_schema() == {"prediction": pl.String}
    assert nb.score_samples(lazy).collect_schema() == {"log p(row)": pl.Float64}
    expected = nb.predict_proba(whole)
    p.sink_parquet(folder / "p.parquet")
    np.testing.assert_array_equal(pl.read_parquet(folder / "p.parquet").to_numpy(), expected)
    for engine in ("in-memory", "streaming"):
        np.testing.assert_array_equal(p.collect(engine=engine).to_numpy(), expected)
        np.testing.assert_array_equal(p.head(7).collect(engine=engine).to_numpy(), expected[:7])
        sure = p.filter(pl.col("p(yes)") > 0.5).select("p(yes)").collect(engine=engine)
        np.testing.assert_array_equal(sure.to_series(), expected[expected[:, 2] > 0.5, 2])
    beside = pl.concat([lazy.select("code"), nb.predict(lazy)], how="horizontal").collect()
    assert beside["code"].to_list() == whole["code"].to_list()
    assert beside["prediction"].to_list() == nb.predict(whole).tolist()


@pytest.mark.filterwarnings("ignore:'' is learned as a class")
@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 3],
        [True, False, True],
        list(np.array(["2024-02-29", "2024-03-01", "1999-01-01"], "M8[D]").tolist()),
        ["", "a\nb", "é"],
    ],
    ids=repr,
)
def test_labels_of_all_types(labels: list[Any]) -> None:
    X = pl.DataFrame({"size": np.arange(60.0)})
    y = [labels[i // 20] for i in range(60)]
    nb = NaiveBayes(weights=None).fit(X, y)
    assert nb.predict(X.lazy()).collect()["prediction"].to_list() == nb.predict(X).tolist()
    unsure = nb.predict(X.lazy(), reject=0.999).collect()["prediction"].to_list()
    assert unsure == list(map(str, nb.predict(X, reject=0.999).tolist()))


def test_it_reads_only_when_it_is_asked(nb: NaiveBayes, whole: pl.DataFrame) -> None:
    read: list[int] = []

    def tables() -> Iterator[pl.DataFrame]:
        for i in range(9):
            read.append(i)
            yield whole[i * 100 : i * 100 + 100]

    found = nb.predict(tables())
    assert len(read) == 1  # which says what the columns are
    next(found)
    assert len(read) <= 2
    lazy = whole.lazy().map_batches(lambda frame: read.append(99) or frame)
    nb.predict(lazy)
    assert 99 not in read


def test_it_is_the_model_of_when_it_was_asked(whole: pl.DataFrame) -> None:
    nb = NaiveBayes().fit(whole[:300], "target")
    expected = nb.predict_proba(whole)
    lazy, batches = nb.predict_proba(whole.lazy()), nb.predict_proba(iter([whole]))
    nb.partial_fit(whole[300:], "target")
    np.testing.assert_array_equal(joined(lazy), expected)
    np.testing.assert_array_equal(joined(batches), expected)


def test_a_batch_may_lack_what_others_have() -> None:
    """All cells missing, whole numbers or strings that are times: a batch alone would tell else."""
    rows = 40
    whole = pl.DataFrame(
        {
            "word": ["2024-01-01"] * 10 + [None] * 10 + ["blue", "red"] * 10,
            "when": ["2024-01-01", None] * 5 + [None] * 10 + ["2024-02-03T04:05:06"] * 20,
            "size": [None] * 10 + [float(i) for i in range(30)],
            "truth": [None] * 10 + [True, False] * 15,
        }
    )
    y = [i % 2 for i in range(rows)]
    nb = NaiveBayes().fit(whole, y)
    expected = nb.predict_proba(whole)
    for tables in (
        (whole[i : i + 10] for i in range(0, rows, 10)),
        (whole[i : i + 10].to_pandas() for i in range(0, rows, 10)),
        (whole[i : i + 10].to_dict(as_series=False) for i in range(0, rows, 10)),
        duckdb.from_arrow(whole.to_arrow()),
        ds.dataset(whole.to_arrow()),
        whole.lazy(),
    ):
        np.testing.assert_array_equal(joined(nb.predict_proba(tables)), expected)


def test_arrays_and_texts_in_turn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    nb = NaiveBayes().fit(X, y)
    found = joined(nb.predict_proba(iter(np.split(X, 9))))
    np.testing.assert_array_equal(found, nb.predict_proba(X))
    texts = ["cheap pills now", "lunch at noon", "cheap lunch"]
    spam = NaiveBayes().fit(texts, [1, 0, 1])
    found = joined(spam.predict_proba(iter([texts[:2], texts[2:]])))
    np.testing.assert_array_equal(found, spam.predict_proba(texts))


def test_a_file(whole: pl.DataFrame, tmp_path: Path) -> None:
    X, y = whole.select("size", "colour"), whole["target"]
    few = NaiveBayes().fit(X, y)
    X.write_csv(tmp_path / "t.csv")
    with opened(tmp_path / "t.csv", rows=100) as table:
        np.testing.assert_array_equal(joined(few.predict_proba(table)), few.predict_proba(X))


def test_nothing_in_the_table(nb: NaiveBayes, whole: pl.DataFrame) -> None:
    assert nb.predict_proba(whole[:0].lazy()).collect().shape == (0, 3)
    for nothing in (iter([]), iter([whole[:0]]), duckdb.from_arrow(whole[:0].to_arrow())):
        assert sum(len(p) for p in nb.predict_proba(nothing)) == 0


@pytest.mark.parametrize("lazily", [pl.DataFrame.lazy, lambda table: iter([table])])
def test_what_is_wrong_is_said(whole: pl.DataFrame, lazily: Callable[..., Any]) -> None:
    with pytest.raises(NotFittedError):
        NaiveBayes().predict(lazily(whole))
    nb = NaiveBayes(weights=None).fit(whole.select("size"), whole["target"])
    wrong = lazily(pl.DataFrame({"size": ["large"] * 3}))
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="'size'"):
        joined(nb.predict(wrong))


def test_the_drop_ins_take_what_scikit_learn_does(whole: pl.DataFrame) -> None:
    X = whole.select("count", "weight").to_numpy()
    nb = GaussianNB().fit(X, whole["target"].to_numpy())
    with pytest.raises((ValueError, TypeError)):
        nb.predict(iter([X]))


def test_a_frequency_is_estimated_from_the_whole(nb: NaiveBayes, whole: pl.DataFrame) -> None:
    expected = nb.estimate_class_prior(whole)
    np.testing.assert_array_equal(nb.estimate_class_prior(whole.lazy()), expected)
    table = whole.to_arrow()
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    np.testing.assert_array_equal(nb.estimate_class_prior(reader), expected)
