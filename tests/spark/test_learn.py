"""What is learned of a frame of Spark is equal to what one machine learns of the same rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from naively import NaiveBayes, Text, load
from naively.fitting.weights import ROWS
from tests.chessboard import chessboard
from tests.spark.tables import mixed, texts

FEW = (130, 130, 131, 300)  # of which one is empty
MANY = tuple(range(22, 400, 22))  # more than are joined in one place


def assert_equal(ours: NaiveBayes, theirs: NaiveBayes, table: pa.Table) -> None:
    """Check that counts are the same exactly, and all that follows from them."""
    rows = table.drop_columns("y")
    assert ours.class_count_.tolist() == theirs.class_count_.tolist()
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert str(ours.schema_) == str(theirs.schema_)
    for key, block in theirs.tally_.blocks.items():
        for statistic, sums in block.sums.items():
            total = ours.tally_.blocks[key].sums[statistic].high.sum(axis=0)
            np.testing.assert_array_equal(total, sums.high.sum(axis=0))
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), 1e-6, 1e-12)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-12)


@pytest.mark.parametrize(("at", "weight"), [((), None), (FEW, None), (FEW, "w"), (MANY, None)])
def test_a_table_of_all_kinds(cut, at, weight):
    table = mixed()
    if weight is None:
        table = table.drop_columns("w")
    ours = NaiveBayes().fit(cut(table, *at), "y", sample_weight=weight)
    rows = table if weight is None else table.drop_columns("w")
    theirs = NaiveBayes().fit(rows, "y", None if weight is None else table["w"].to_numpy())
    assert_equal(ours, theirs, rows)
    assert ours.assess().log_loss == pytest.approx(theirs.assess().log_loss, abs=1e-12)
    kinds = {name: group.kind for name, group in ours.schema_.columns.items()}
    assert (kinds["written"], kinds["when"], "nothing" in kinds) == ("time", "time", False)


@pytest.mark.parametrize("options", [{}, {"weights": None}, {"text": "words"}], ids=str)
def test_texts(cut, options):
    table = texts()
    ours = NaiveBayes(**options).fit(cut(table, 100, 200), "y")
    assert_equal(ours, NaiveBayes(**options).fit(table, "y"), table)


def test_lists_of_words_are_texts(cut):
    table = pa.table({"words": [["a", "b"], ["c"], None, ["b"]] * 5, "y": [1, 2, 2, 1] * 5})
    ours = NaiveBayes().fit(cut(table, 7), "y")
    assert_equal(ours, NaiveBayes().fit(table, "y"), table)


@pytest.mark.parametrize(
    "options",
    [
        {"event_models": {"count": "poisson", "number": "gaussian"}, "class_prior": "uniform"},
        {"class_prior": {"high": 0.2, "low": 0.3, "mid": 0.5}, "random_state": 7},
        {"estimate": "map", "smoothing": 2.0, "weights": "temperature"},
        {"event_models": {"colour": Text("char", (1, 2))}},
    ],
    ids=str,
)
def test_options_reach_the_workers(cut, options):
    table = mixed().drop_columns("w")
    ours = NaiveBayes(**options).fit(cut(table, 50, 250), "y")
    theirs = NaiveBayes(**options).fit(table, "y")
    assert_equal(ours, theirs, table)
    assert ours.model_.settings == theirs.model_.settings


def test_partitions_may_lack_classes_and_have_strings_of_their_own(cut):
    n = 120
    table = pa.table({
        "of": [f"s{i}" for i in range(n)],
        "x": [0.0, 1.0] * 20 + [float(i) for i in range(n - 40)],  # truths at first
        "late": [None] * 80 + ["p", "q"] * 20,
        "y": ["a"] * 40 + ["b"] * 40 + ["c", "a"] * 20,
    })  # fmt: skip
    ours = NaiveBayes().fit(cut(table, 40, 80), "y")
    assert_equal(ours, NaiveBayes().fit(table, "y"), table)


def test_equal_partitions_count_each(cut):
    once = mixed(60).drop_columns("w")
    table = pa.concat_tables([once] * 18)
    at = range(60, len(table), 60)
    assert_equal(NaiveBayes().fit(cut(table, *at), "y"), NaiveBayes().fit(table, "y"), table)


@pytest.mark.parametrize("labels", [[1, 2], [True, False], [0.0, 1.0]], ids=str)
def test_labels_keep_their_type(cut, labels):
    table = pa.table({"x": np.arange(40.0), "y": labels * 20})
    ours = NaiveBayes().fit(cut(table, 15), "y")
    assert_equal(ours, NaiveBayes().fit(table, "y"), table)


def test_labels_that_look_like_times_stay_strings(cut):
    table = pa.table({"x": np.arange(40.0), "y": ["2026-01-01", "2026-01-02"] * 20})
    assert NaiveBayes().fit(cut(table, 15), "y").classes_.tolist() == ["2026-01-01", "2026-01-02"]


def test_many_words_after_times_make_them_all_strings(cut):
    times = ["2026-01-01", "2026-01-02T10:00"]
    table = pa.table({
        "when": [*times * 30, *(f"soon {i}" for i in range(21))],
        "still": times * 40 + [None],
        "y": ["a", "b", "b"] * 27,
    })  # fmt: skip
    ours = NaiveBayes().fit(cut(table, 20, 50), "y")
    kinds = {name: group.kind for name, group in ours.schema_.columns.items()}
    assert (kinds["when"], kinds["still"]) == ("string", "time")
    assert_equal(ours, NaiveBayes().fit(table, "y"), table)


def test_more_rows_are_learned_and_forgotten(cut):
    table = mixed().drop_columns("w")
    first, rest = table.slice(0, 150), table.slice(150)
    ours = NaiveBayes().partial_fit(cut(first, 70), "y").partial_fit(cut(rest, 30, 31), "y")
    assert_equal(ours, NaiveBayes().partial_fit(first, "y").partial_fit(rest, "y"), table)
    ours.forget(cut(first, 20), "y")
    alone = NaiveBayes().fit(rest, "y")
    assert ours.class_count_.tolist() == alone.class_count_.tolist()
    plain = ours.model_.weighed(None).posterior
    from naively.data.frames import as_rows

    rows = as_rows(rest.drop_columns("y"))
    np.testing.assert_allclose(plain(rows), alone.model_.weighed(None).posterior(rows), atol=1e-12)


def test_weights_of_rows_are_forgotten_too(cut):
    table = mixed()
    nb = NaiveBayes().fit(cut(table, 70), "y", sample_weight="w")
    nb.forget(cut(table.slice(0, 100), 30), "y", sample_weight="w")
    rest = table.slice(100)
    theirs = NaiveBayes().fit(rest.drop_columns("w"), "y", rest["w"].to_numpy())
    assert nb.class_count_.tolist() == theirs.class_count_.tolist()


def test_a_model_of_spark_is_saved_with_its_sample(cut, tmp_path):
    table = mixed().drop_columns("w")
    nb = NaiveBayes().fit(cut(table, 150), "y")
    nb.save(tmp_path / "m.naively", keep_rows=True)
    assert load(tmp_path / "m.naively").assess().log_loss == nb.assess().log_loss


def test_a_partition_without_weight_adds_nothing(cut):
    table = mixed()
    weight = np.where(np.arange(len(table)) < 100, 0.0, 1.0)
    table = table.set_column(table.column_names.index("w"), "w", pa.array(weight))
    ours = NaiveBayes().fit(cut(table, 100, 250), "y", sample_weight="w")
    rows = table.drop_columns("w")
    assert_equal(ours, NaiveBayes().fit(rows.slice(100), "y"), rows)


def test_a_rare_class_is_in_the_sample_as_a_whole_however_it_is_cut(cut):
    """Of one partition it may be many rows, and of another none: the sample is that of all rows."""
    rng = np.random.default_rng(0)
    rare = np.zeros(30_000, bool)
    rare[[*range(5, 25), *rng.integers(12_000, 30_000, 10)]] = True
    table = pa.table(
        {
            "number": np.arange(30_000.0),
            "x": rng.normal(size=30_000) + 2 * rare,
            "y": np.where(rare, "rare", rng.choice(["a", "b"], 30_000)),
        }
    )
    ours = NaiveBayes("gaussian").fit(cut(table, 40, 10_000, 12_000), "y")
    theirs = NaiveBayes("gaussian").fit(table, "y")
    mine, other = (held(nb) for nb in (ours, theirs))
    assert mine == other
    assert mine[2] == np.flatnonzero(rare).tolist()
    assert len(mine[0]) == len(mine[1]) == (ROWS - rare.sum()) // 2
    assert_equal(ours, theirs, table)


def held(nb: NaiveBayes) -> list[list[float]]:
    """Return the first numbers of the rows in the sample, class by class."""
    found: list[list[float]] = [[] for _ in nb.classes_]
    for batch in nb._learned.sample.of(nb.model_).batches:
        (block,) = batch.blocks.values()
        for c, number in zip(batch.labels.codes, block.values[:, 0], strict=True):
            found[c].append(number)
    return [sorted(numbers) for numbers in found]


@pytest.mark.parametrize("n", [2_000, 12_000])
def test_interactions_are_those_of_one_machine(cut, n):
    """Of the larger sample too, which is kept of each partition."""
    X, odd = chessboard(n)
    table = pa.table({**X, "y": odd})
    ours = NaiveBayes(interactions="auto").fit(cut(table, n // 3, n // 2), "y")
    theirs = NaiveBayes(interactions="auto").fit(table, "y")
    assert theirs.weights_.linear.rules
    rows = [len(nb._learned.sample.of(nb.model_, larger=True)) for nb in (ours, theirs)]
    assert rows[0] == rows[1] > min(n - 1, 1.1 * ROWS)
    assert_equal(ours, theirs, table)
