"""The sample of a table of a server: as many rows of each class, and what each stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.fitting import reservoir
from naively.fitting.reservoir import Reservoir, SampleSize, rows_of_each
from naively.wings.databases import tables, tallies
from naively.wings.databases.databases import DatabaseTable, database_of
from naively.wings.databases.tallies import Sampled, ServerTable, sample
from tests.databases import connected, write

SIZE = 400  # rows of a sample
SEED = int(Reservoir.chosen_by(5).seed)
NAMES = ["c0", "h", "most", "v", "r"]  # what the query calls things itself


def table(labels: list[Any], seed: int = 0) -> dict[str, list[Any]]:
    """Return columns of numbers, the first of which are the numbers of the rows, and labels."""
    rng = np.random.default_rng(seed)
    first, *rest = NAMES
    columns: dict[str, list[Any]] = {first: np.arange(float(len(labels))).tolist()}
    return columns | {name: rng.normal(size=len(labels)).tolist() for name in rest} | {"y": labels}


@pytest.fixture
def server(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A connection to a server that counts small tables too, and of which samples are small."""
    monkeypatch.setattr(tables, "FEW", 0)
    monkeypatch.setattr(tallies, "ROWS", SIZE)
    monkeypatch.setattr(reservoir, "sample_size", lambda *_: SampleSize(SIZE, SIZE, 0.0, ""))
    with connected("postgres", postgres) as connection:
        yield connection


def sampled(connection: Any, weight: str | None = None, seed: int = SEED) -> Sampled:
    """Return a sample of the table t."""
    source = DatabaseTable.of(database_of(connection), "t", "y", weight)
    return sample(ServerTable(source), seed)


def of_labels(connection: Any, labels: list[Any], of: str) -> Sampled:
    """Return a sample of a table with these labels, of a kind."""
    columns = table(labels)
    write(connection, "postgres", "t", columns, dict.fromkeys(NAMES, "number") | {"y": of})
    return sampled(connection)


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
    server: Any, labels: list[Any], of: str
) -> None:
    often = [2000, 30, 5][: len(labels)]
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(often)), often))
    found = of_labels(server, [labels[c] for c in y], of)
    code = dict(zip(found.share, range(len(found.share)), strict=True))
    assert len(code) == len(labels)
    numbers: dict[int, list[int]] = {}
    for label, x in zip(found.labels, found.cells["c0"], strict=True):
        numbers.setdefault(int(y[int(x)]), []).append(code[label])
    assert all(len(set(some)) == 1 for some in numbers.values())  # of each class its own label
    assert [len(numbers[c]) for c in range(1, len(often))] == often[1:]
    cap = rows_of_each(np.array(often), SIZE)
    assert cap <= len(numbers[0]) <= 1.8 * cap
    assert len(set(found.cells["c0"])) == len(found.labels)


def test_of_many_classes_each_has_as_many_rows(server: Any) -> None:
    y = np.concatenate([np.arange(130), np.random.default_rng(0).integers(0, 10, 7000)])
    of = Counter(of_labels(server, [f"of {c}" for c in y], "string").labels)
    rows = np.bincount(y)
    cap = rows_of_each(rows, SIZE)
    assert cap > 20
    assert all(of[f"of {c}"] >= min(n, cap) for c, n in enumerate(rows.tolist()))
    assert of.total() < 2 * SIZE


def test_of_more_classes_than_rows_few_are_read(server: Any) -> None:
    found = of_labels(server, list(range(3000)), "whole")
    assert SIZE <= len(set(found.labels)) <= 2 * SIZE


def test_a_class_of_few_different_rows_leaves_room_for_others(server: Any) -> None:
    columns = {"x": [*[7.0] * 2000, *range(1500)], "y": ["same"] * 2000 + ["each"] * 1500}
    write(server, "postgres", "t", columns)
    found = sampled(server)
    of = Counter(found.labels)
    assert of["same"] == 1
    assert found.copies.max() == 2000
    assert SIZE - 1 <= of["each"] <= 1.5 * SIZE


def test_copies_of_few_rows_are_all_in_the_sample(server: Any) -> None:
    write(server, "postgres", "t", {"x": [1.0, 2.0] * 2000, "y": ["a", "a", "b", "b"] * 1000})
    found = sampled(server)
    assert len(found.labels) == 4
    assert found.copies.sum() == 4000


def test_the_sample_follows_from_its_seed(server: Any) -> None:
    write(server, "postgres", "t", table(["a", "b"] * 5000))
    first, again, other = (sampled(server, seed=seed) for seed in (5, 5, 2**63 + 6))
    assert sorted(first.cells["c0"]) == sorted(again.cells["c0"])
    assert SIZE <= len(first.labels) <= 1.5 * SIZE
    assert len(set(first.cells["c0"]) & set(other.cells["c0"])) < SIZE / 4
    # Neither labels nor numbers are chosen by what they are.
    assert np.mean([y == "a" for y in first.labels]) == pytest.approx(0.5, abs=0.1)
    assert np.mean(first.cells["c0"]) == pytest.approx(5000, abs=600)


def test_rows_of_weight_0_leave_room_for_others(server: Any) -> None:
    y = ["often"] * 3000 + ["rare"] * 60 + ["none"] * 50
    w = [0.0, 0.0, 2.5] * 1000 + [0.0, 1.0] * 30 + [0.0] * 50
    columns = table(y) | {"w": w}
    write(server, "postgres", "t", columns, dict.fromkeys(columns, "number") | {"y": "string"})
    found = sampled(server, "w")
    of = Counter(found.labels)
    assert of["rare"] == 30
    assert SIZE - 30 <= of["often"] <= 1.5 * SIZE
    assert "none" not in of
    assert found.weight is not None
    assert set(found.weight) == {2.5, 1.0}
    server.execute('UPDATE t SET "w" = 0')
    assert len(sampled(server, "w").labels) == 0
    with pytest.raises(ValueError, match="all sample weights are zero"):
        NaiveBayes().fit_sql(server, "t", "y", "w")


# --- Samples of a database and of memory ---------------------------------------------------------


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


def both_ways(server: Any, columns: dict[str, list[Any]]) -> tuple[NaiveBayes, NaiveBayes]:
    """Learn a table in memory and in a database, with as small samples."""
    write(server, "postgres", "t", columns)
    X = {name: columns[name] for name in NAMES}
    mine, theirs = NaiveBayes("gaussian"), NaiveBayes("gaussian")
    return mine.fit(X, columns["y"]), theirs.fit_sql(server, "t", "y")


@pytest.mark.parametrize("rows", [250, 3000])
def test_a_class_that_is_there_as_a_whole_is_there_as_in_memory(server: Any, rows: int) -> None:
    columns = of_counts({"often": rows, "seldom": 90, "rare": 7}, 0)
    mine, theirs = both_ways(server, columns)
    for label in ("seldom", "rare"):
        assert keys(theirs._learned.sample, label) == keys(mine._learned.sample, label)
    assert len(keys(theirs._learned.sample, "often")) == len(keys(mine._learned.sample, "often"))
    if rows == 250:
        assert keys(theirs._learned.sample, "often") == keys(mine._learned.sample, "often")


def test_merged_with_rows_of_memory_each_class_has_the_rows_of_both(server: Any) -> None:
    """As many of each as both have, and from each as many as it has of both."""
    often = {"often": 9000, "seldom": 1000, "rare": 7}
    theirs = both_ways(server, of_counts(often, 0))[1]
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
def test_weights_and_scores_are_those_of_memory(postgres: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(41_000) < 0.005
    X = {"a": rng.normal(size=len(y)) + 2 * y, "b": rng.normal(size=len(y)) + y}
    columns = {key: of.tolist() for key, of in X.items()} | {"y": y.tolist()}
    with connected("postgres", postgres) as connection:
        write(connection, "postgres", "t", columns)
        theirs = NaiveBayes().fit_sql(connection, "t", "y")
    mine = NaiveBayes().fit(X, y)
    assert np.bincount(theirs._learned.sample.of(theirs.model_).labels.codes)[1] == y.sum()
    assert theirs.assess().log_loss == pytest.approx(mine.assess().log_loss, rel=0.05)
    loss = mine.evaluate(X, y).log_loss
    assert theirs.evaluate(X, y).log_loss == pytest.approx(loss, rel=0.05)  # other steps
    assert theirs.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.1)
