"""The sample of a table in a database: as many rows of each class, and what each stands for."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes
from naively.fitting import reservoir
from naively.fitting.reservoir import Reservoir, SampleSize, rows_of_each
from naively.wings.databases import tables as learning
from naively.wings.databases.databases import database_of
from naively.wings.databases.tables import Sampled, sample, shares_of_each
from naively.wings.databases.tallies import DatabaseTable
from tests.databases import write

SEED = int(Reservoir.chosen_by(5).seed)
NAMES = ["c0", "h", "most", "v", "r"]  # what the query calls things itself


def table(labels: list[Any], seed: int = 0) -> dict[str, list[Any]]:
    """Return columns of numbers, the first of which are the numbers of the rows, and labels."""
    rng = np.random.default_rng(seed)
    first, *rest = NAMES
    columns: dict[str, list[Any]] = {first: np.arange(float(len(labels))).tolist()}
    return columns | {name: rng.normal(size=len(labels)).tolist() for name in rest} | {"y": labels}


def sampled(database: tuple[str, Any], labels: list[Any], of: str, most: int) -> Sampled:
    """Return a sample of a table with these labels, of a kind."""
    name, connection = database
    write(connection, name, "t", table(labels), dict.fromkeys(NAMES, "number") | {"y": of})
    return sample(DatabaseTable.of(database_of(connection), "t", "y"), most, SEED)


@given(
    rows=st.lists(st.integers(1, 3000), min_size=1, max_size=8),
    copies=st.lists(st.integers(1, 50), min_size=8, max_size=8),
    most=st.integers(1, 500),
    seed=st.integers(0, 100),
)
def test_shares_grow_until_as_many_of_each_class_are_found_as_can_stay(
    rows: list[int], copies: list[int], most: int, seed: int
) -> None:
    of = np.array(rows)
    different = -(-of // np.array(copies[: len(of)]))
    hashes = [np.random.default_rng([seed, n]).random(n) for n in different]
    share = shares_of_each(of, most)
    for _ in range(100):
        found = np.array([np.count_nonzero(h < p) for h, p in zip(hashes, share, strict=True)])
        more = shares_of_each(of, most, share, found)
        if np.array_equal(more, share):
            break
        assert (more >= share).all()
        share = more
    else:
        pytest.fail("it does not end")
    if len(of) <= most:
        assert (found >= np.minimum(different, rows_of_each(different, most))).all()
    else:
        assert np.count_nonzero(found) >= most


@pytest.mark.parametrize(
    ("labels", "of"),
    [
        (["it's", '"; DROP TABLE t; --', ""], "string"),
        (["größe 😀", "\\", "a "], "string"),
        ([-(2**63), 2**62 + 1, 0], "whole"),
        ([0.1, -1e300, float("inf")], "number"),
        ([True, False], "boolean"),
        ([date(1969, 12, 31), date(2024, 2, 29), date(1, 1, 1)], "DATE"),
    ],
    ids=str,
)
def test_rare_classes_are_there_as_a_whole_whatever_labels_are(
    database: tuple[str, Any], labels: list[Any], of: str
) -> None:
    if database[0] == "sqlite" and of == "DATE":
        pytest.skip("SQLite has no type of times")
    often = [2000, 30, 5][: len(labels)]
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(often)), often))
    found = sampled(database, [labels[c] for c in y], of, 200)
    code = dict(zip(found.share, range(len(found.share)), strict=True))
    assert len(code) == len(labels)
    numbers: dict[int, list[int]] = {}
    for label, x in zip(found.labels, found.cells["c0"], strict=True):
        numbers.setdefault(int(y[int(x)]), []).append(code[label])
    assert all(len(set(some)) == 1 for some in numbers.values())  # of each class its own label
    assert [len(numbers[c]) for c in range(1, len(often))] == often[1:]
    cap = rows_of_each(np.array(often), 200)
    assert cap <= len(numbers[0]) <= 1.8 * cap
    assert len(set(found.cells["c0"])) == len(found.labels)


def test_of_a_thousand_classes_each_has_as_many_rows(database: tuple[str, Any]) -> None:
    y = np.concatenate([np.arange(1000), np.random.default_rng(0).integers(0, 30, 7000)])
    found = sampled(database, [f"of {c}" for c in y], "string", 3000)
    rows = np.bincount(y)
    of = Counter(found.labels)
    cap = rows_of_each(rows, 3000)
    assert cap > 30
    assert all(of[f"of {c}"] >= min(n, cap) for c, n in enumerate(rows.tolist()))
    assert len(found.labels) < 6000


def test_of_more_classes_than_rows_few_are_read(database: tuple[str, Any]) -> None:
    found = sampled(database, list(range(3000)), "whole", 100)
    assert 100 <= len(set(found.labels)) <= 200


def test_a_class_of_few_different_rows_leaves_room_for_others(database: tuple[str, Any]) -> None:
    name, connection = database
    columns = {"x": [*[7.0] * 2000, *range(1500)], "y": ["same"] * 2000 + ["each"] * 1500}
    write(connection, name, "t", columns)
    found = sample(DatabaseTable.of(database_of(connection), "t", "y"), 300, SEED)
    of = Counter(found.labels)
    if name == "sqlite":  # where rows are chosen by their number
        assert min(of.values()) >= 150
        return
    assert of["same"] == 1
    assert found.copies.max() == 2000
    assert 299 <= of["each"] <= 450


def test_rows_of_weight_0_leave_room_for_others(database: tuple[str, Any]) -> None:
    name, connection = database
    y = ["often"] * 3000 + ["rare"] * 60 + ["none"] * 50
    w = [0.0, 0.0, 2.5] * 1000 + [0.0, 1.0] * 30 + [0.0] * 50
    columns = table(y) | {"w": w}
    types = dict.fromkeys(columns, "number") | {"y": "string"}
    write(connection, name, "t", columns, types)
    source = DatabaseTable.of(database_of(connection), "t", "y", "w")
    found = sample(source, 200, SEED)
    of = Counter(found.labels)
    assert of["rare"] == 30
    assert 170 <= of["often"] <= 300
    assert "none" not in of
    assert found.weight is not None
    assert set(found.weight) == {2.5, 1.0}
    connection.execute('UPDATE t SET "w" = 0')
    assert len(sample(DatabaseTable.of(source.database, "t", "y", "w"), 200, SEED).labels) == 0


def test_adbc_has_a_sample_of_each_class() -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    import pyarrow as pa

    columns = table([*["often"] * 2000, *["rare"] * 30])
    with dbapi.connect() as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", pa.table(columns))
        found = sample(DatabaseTable.of(database_of(connection), "t", "y"), 200, SEED)
    assert Counter(found.labels)["rare"] == 30
    assert 170 <= Counter(found.labels)["often"] <= 300


# --- Samples of a database and of memory ---------------------------------------------------------


SIZE = 400


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let samples be small, so that tables may be."""
    monkeypatch.setattr(learning, "ROWS", SIZE)
    monkeypatch.setattr(reservoir, "sample_size", lambda *_: SampleSize(SIZE, SIZE, 0.0, ""))


def of_counts(often: dict[str, int], seed: int) -> dict[str, list[Any]]:
    """Return a table with so many rows of each class."""
    y = np.repeat([*often], [*often.values()])
    return table(np.random.default_rng(seed).permutation(y).tolist(), seed)


def keys(sample: Reservoir | None, label: str) -> list[int]:
    """Return the keys of the rows of a class."""
    assert sample is not None
    every = [
        kept.keys[kept.batch.labels.classes[kept.batch.labels.codes] == label]
        for kept in sample._sample()
    ]
    return sorted(np.concatenate(every).tolist())


def both_ways(
    database: tuple[str, Any], columns: dict[str, list[Any]]
) -> tuple[NaiveBayes, NaiveBayes]:
    """Learn a table in memory and in a database, with as small samples."""
    name, connection = database
    write(connection, name, "t", columns)
    X = {name: columns[name] for name in NAMES}
    mine, theirs = NaiveBayes("gaussian"), NaiveBayes("gaussian")
    return mine.fit(X, columns["y"]), theirs.fit_sql(connection, "t", "y")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [250, 3000])
def test_a_class_that_is_there_as_a_whole_is_there_as_in_memory(
    database: tuple[str, Any], rows: int
) -> None:
    columns = of_counts({"often": rows, "seldom": 90, "rare": 7}, 0)
    mine, theirs = both_ways(database, columns)
    for label in ("seldom", "rare"):
        assert keys(theirs._learned.sample, label) == keys(mine._learned.sample, label)
    assert len(keys(theirs._learned.sample, "often")) == len(keys(mine._learned.sample, "often"))
    if rows == 250:
        assert keys(theirs._learned.sample, "often") == keys(mine._learned.sample, "often")


@pytest.mark.usefixtures("small")
def test_merged_with_rows_of_memory_each_class_has_the_rows_of_both(
    database: tuple[str, Any],
) -> None:
    """As many of each as both have, and from each as many as it has of both."""
    often = {"often": 9000, "seldom": 1000, "rare": 7}
    theirs = both_ways(database, of_counts(often, 0))[1]
    more = of_counts(often, 1)
    more["c0"] = [-1 - x for x in more["c0"]]  # so that they are known
    mine = NaiveBayes("gaussian").fit({name: more[name] for name in NAMES}, more["y"])
    both = theirs.merge(mine)
    assert both._learned.sample.seen == 2 * sum(often.values())
    (batch,) = both._learned.sample.of(both.model_).batches
    (block,) = batch.blocks.values()
    negative, codes = block.values[:, 0] < 0, batch.labels.codes
    cap = rows_of_each(2 * np.array([*often.values()]), SIZE)
    for c, label in enumerate(both.classes_.tolist()):
        some = negative[codes == c]
        assert len(some) == min(2 * often[label], cap)
        assert abs(some.mean() - 0.5) < 4 * 0.5 / np.sqrt(cap)


@pytest.mark.slow
def test_weights_and_scores_are_those_of_memory(database: tuple[str, Any]) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(41_000) < 0.005
    X = {"a": rng.normal(size=len(y)) + 2 * y, "b": rng.normal(size=len(y)) + y}
    name, connection = database
    columns = {key: of.tolist() for key, of in X.items()} | {"y": y.tolist()}
    write(connection, name, "t", columns)
    mine, theirs = NaiveBayes().fit(X, y), NaiveBayes().fit_sql(connection, "t", "y")
    assert np.bincount(theirs._learned.sample.of(theirs.model_).labels.codes)[1] == y.sum()
    assert theirs.assess().log_loss == pytest.approx(mine.assess().log_loss, rel=0.05)
    loss = mine.evaluate(X, y).log_loss
    assert theirs.evaluate(X, y).log_loss == pytest.approx(loss, rel=0.05)  # other steps
    assert theirs.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.1)
