"""Tables of any length: what is learned of them is what is learned of the whole at once."""

from __future__ import annotations

import subprocess
import sys
import warnings
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

from naively import NaiveBayes
from naively.data import stream as streams
from naively.data.stream import ReadAgainError, as_stream, in_pieces
from naively.kernels.strings import pack_strings
from naively.wings.files import opened
from tests.chessboard import chessboard
from tests.test_settle import many_texts

N = 900


def frame(n: int = N) -> pl.DataFrame:
    """Columns of every kind, some cells of which are missing."""
    rng = np.random.default_rng(7)

    def some(cells: Any) -> list[Any]:
        return [None if i % 11 == 3 else cell for i, cell in enumerate(cells)]

    days = (np.datetime64("2024-01-01T00:00:00", "us") + rng.integers(0, 10**14, n)).astype(object)
    return pl.DataFrame({
        "size": some(rng.normal(size=n).tolist()),
        "count": rng.integers(0, 9, n),
        "truth": some(rng.random(n) > 0.4),
        "late": [0] * (n - 3) + [1, 2, 3],
        "colour": some(rng.choice(["red", "green", "blue", "très bleu"], n).tolist()),
        "code": [f"c{i % 40}" for i in range(n)],
        "day": pl.Series(some(days), dtype=pl.Datetime("us")),
        "written": [f"2024-0{1 + i % 9}-11" for i in range(n)],
        "note": many_texts(n),
        "kind": pl.Series(rng.choice(["a", "b"], n).tolist(), dtype=pl.Categorical),
        "weight": rng.integers(1, 4, n).astype(float),
        "target": rng.choice(["yes", "no", "perhaps"], n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams")
    pq.write_table(frame().to_arrow(), path / "t.parquet", row_group_size=250)
    return path


def relation(table: pl.DataFrame) -> duckdb.DuckDBPyRelation:
    return duckdb.from_arrow(table.to_arrow())


def tables(n: int, size: int) -> Iterator[pl.DataFrame]:
    whole = frame(n)
    return (whole[start : start + size] for start in range(0, n, size))


SOURCES: dict[str, Callable[[Path], Any]] = {
    "a DuckDB relation": lambda folder: duckdb.sql(f"FROM '{folder / 't.parquet'}'"),
    "a lazy frame": lambda folder: pl.scan_parquet(folder / "t.parquet"),
    "a dataset": lambda folder: ds.dataset(folder / "t.parquet"),
    "a scanner": lambda folder: ds.dataset(folder / "t.parquet").scanner(batch_size=100),
    "a reader": lambda folder: pq.ParquetFile(folder / "t.parquet"),
    "an Ibis table": lambda _: ibis.polars.connect({"t": frame()}).table("t"),
    "an iterator": lambda _: tables(N, 77),
    "an iterator of another library": lambda _: (t.to_pandas() for t in tables(N, 301)),
}


def source(name: str, folder: Path) -> Any:
    found = SOURCES[name](folder)
    if isinstance(found, pq.ParquetFile):
        return pa.RecordBatchReader.from_batches(found.schema_arrow, found.iter_batches(60))
    return found


def check_same(a: NaiveBayes, b: NaiveBayes) -> None:
    rows = frame(50)
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_array_equal(a.class_count_, b.class_count_)
    assert str(a.schema_) == str(b.schema_)
    X = rows.drop("target")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Levels are numbered as they come, so that sums over them are rounded otherwise.
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=0, atol=1e-9)
        np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, "loo"])
@pytest.mark.parametrize("name", SOURCES)
def test_a_stream_is_the_whole_at_once(name: str, weights: Any, folder: Path) -> None:
    whole = NaiveBayes(weights=weights).fit(frame(), "target")
    check_same(NaiveBayes(weights=weights).fit(source(name, folder), "target"), whole)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1 << 20, 401, 53])
def test_batches_do_not_show(rows: int, folder: Path) -> None:
    weight = frame()["weight"].to_numpy()
    whole = NaiveBayes().fit(frame().drop("weight"), "target", weight)
    with opened(folder / "t.parquet", ignore=["weight"], rows=rows) as table:
        check_same(NaiveBayes().fit(table, "target", weight), whole)


def test_labels_and_weights_are_columns_or_beside_the_table(folder: Path) -> None:
    whole = frame()
    X, y, w = whole.drop("target", "weight"), whole["target"], whole["weight"]
    expected = NaiveBayes().fit(X, y, w)
    relation = duckdb.sql(f"FROM '{folder / 't.parquet'}'")
    check_same(NaiveBayes().fit(relation, "target", sample_weight="weight"), expected)
    beside = relation.select("* EXCLUDE (target, weight)")
    check_same(NaiveBayes().fit(beside, y.to_list(), w.to_numpy()), expected)


def test_more_is_learned_and_forgotten_in_batches() -> None:
    first, rest = frame()[:300], frame()[300:]
    nb = NaiveBayes(weights=None).fit(first, "target")
    nb.partial_fit(relation(rest), "target")
    check_same(nb, NaiveBayes(weights=None).fit(frame(), "target"))
    nb.forget(rest.lazy(), "target")
    check_same(nb, NaiveBayes(weights=None).fit(first, "target"))


def test_weights_are_those_of_all_rows_after_more_batches() -> None:
    nb = NaiveBayes().fit(tables(300, 100), "target")
    rest = frame()[300:]
    nb.partial_fit((rest[i : i + 90] for i in range(0, 600, 90)), "target").calibrate()
    first = frame(300)  # the rows of the iterator above
    both = pl.concat(
        [first.with_columns(pl.col("kind").cast(str)), rest.with_columns(pl.col("kind").cast(str))]
    )
    check_same(nb, NaiveBayes().fit(both, "target"))


def test_interactions_of_what_is_read_once_are_those_of_the_table() -> None:
    a_and_b, odd = chessboard(3_000, seed=3)  # which no product of lines can tell
    table = pl.DataFrame({**a_and_b, "y": np.where(odd, "odd", "even")})
    whole = NaiveBayes(interactions="auto").fit(table, "y")
    linear = whole.weights_.linear
    assert linear.rules
    X = table.drop("y")
    assert whole.score(X, table["y"]) > 0.9
    parts = (table[i : i + 700] for i in range(0, 3_000, 700))
    for rows in (relation(table), table.lazy(), parts):
        nb = NaiveBayes(interactions="auto").fit(rows, "y")
        assert nb.weights_.linear.rules == linear.rules
        np.testing.assert_array_equal(nb.predict_proba(X), whole.predict_proba(X))


# A decision that later rows overturn


@pytest.mark.parametrize(
    ("first", "last"),
    [("1", "x"), ("1", "007"), ("2024-01-01", "soon"), ("true", "2"), ("", "x"), ("", "1")],
)
def test_a_late_cell_makes_the_rows_be_counted_again(tmp_path: Path, first: str, last: str) -> None:
    path = tmp_path / "t.csv"
    cells = [first] * 60 + [last] * 20 + [first] * 20
    lines = [f"{cell},{'ab'[i % 3 > 0]},{i % 7}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["x,y,z", *lines]) + "\n")
    models = []
    for rows in (10, 1_000):
        with opened(path, rows=rows, labels="y") as table:
            models.append(NaiveBayes().fit(table, "y"))
    few, all_at_once = models
    assert few.schema_.kinds == all_at_once.schema_.kinds
    assert str(few.schema_) == str(all_at_once.schema_)
    X = {"x": [first or None, last, None], "z": [1, 2, 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = all_at_once.predict_proba(X)
        except ValueError:  # strings where numbers were learned
            return
        np.testing.assert_allclose(few.predict_proba(X), expected, atol=1e-12)


def test_many_words_after_times_make_the_rows_be_counted_again() -> None:
    days = ["2024-01-01"] * 60 + [f"day {i}" for i in range(141)]
    table = pl.DataFrame({"day": days, "y": ["a", "b", "b"] * 67})
    nb = NaiveBayes().fit(relation(table), "y")
    assert nb.schema_.kinds == {"day": "text"}  # of pieces, beside their levels
    stream = as_stream(relation(table))
    assert stream is not None
    several = in_several(stream, 50)
    with pytest.raises(ReadAgainError):
        list(several)
    assert {batch.kind("day") for batch in several} == {"string"}


def in_several(stream: streams.Stream, rows: int) -> streams.Stream:
    whole = stream.columns
    stream.columns = lambda: (piece for c in whole() for piece in in_pieces(c, rows))  # type: ignore[method-assign]
    return stream


@pytest.mark.parametrize(
    "batches",
    [
        (["2024-01-01"] * 5, [f"day {i}" for i in range(5)]),
        (["NA"] * 8, [str(i % 617) for i in range(1_234)]),
        (["1,250", "2,500"], ["3,25", "4,75"] * 3),
        (["03/04/2024", "05/06/2024"], ["31/12/2024"] * 3, [None, "30/12/2024"]),
        (["5 kg"] * 4, ["6 g"] * 110, ["7 kg"]),
        (["12", "13"] * 9, ["<5", "14"] * 9),
        ([None, None], ["2 h", "90 min"]),
        (["7", "8"], ["007"] * 9),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Nearly every row")
def test_what_can_be_read_once_is_read_by_all_its_batches(batches: tuple[list[Any], ...]) -> None:
    """As one frame in memory is, whichever cells come first."""
    frames = [pl.DataFrame({"x": pl.Series(of, dtype=pl.String)}) for of in batches]
    frames = [frame.with_columns(y=pl.int_range(pl.len()) % 2) for frame in frames]
    whole = NaiveBayes().fit(pl.concat(frames), "y")
    X = pl.concat(frames).drop("y")
    reader = pl.concat(frames, rechunk=False).to_arrow().to_reader(max_chunksize=2)
    for rows in (iter(frames), iter(frames[::-1]), reader):
        nb = NaiveBayes().fit(rows, "y")
        assert str(nb.schema_) == str(whole.schema_)
        np.testing.assert_allclose(nb.predict_proba(X), whole.predict_proba(X), atol=1e-12)


# Bad input


def test_a_source_that_fails_in_the_middle_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n" * 300_000 + "1\n")
    columns = "columns = {'a': 'BIGINT', 'b': 'VARCHAR'}, auto_detect = false, header = true"
    relation = duckdb.sql(f"FROM read_csv('{path}', {columns}, delim = ',')")
    nb = NaiveBayes()
    with pytest.raises(ValueError, match=r"^The table cannot be read to its end: ") as error:
        nb.fit(relation, "b")
    assert "\n" not in str(error.value)
    assert not hasattr(nb, "classes_")


def test_an_error_of_an_iterator_is_its_own() -> None:
    def broken() -> Iterator[pl.DataFrame]:
        yield frame(50)
        raise ConnectionError("the line is dead")

    nb = NaiveBayes().fit(frame(), "target")
    before = nb.class_count_
    with pytest.raises(ConnectionError, match="the line is dead"):
        nb.partial_fit(broken(), "target")
    np.testing.assert_array_equal(nb.class_count_, before)


def test_a_kind_that_differs_between_batches_is_named() -> None:
    parts = [
        pl.DataFrame({"x": [1.5, 2.0], "y": ["a", "b"]}),
        pl.DataFrame({"x": ["p"], "y": ["a"]}),
    ]
    with pytest.raises(
        ValueError, match="Column 'x' held numbers in training and holds strings now"
    ):
        NaiveBayes().fit(iter(parts), "y")


def test_empty_batches_are_passed_over() -> None:
    whole = frame(100)
    parts = [whole[:0], whole[:40], whole[:0], whole[40:], whole[:0]]
    check_same(NaiveBayes().fit(iter(parts), "target"), NaiveBayes().fit(whole, "target"))
    with pytest.raises(ValueError, match="no rows to learn from"):
        NaiveBayes().fit(iter([whole[:0]]), "target")


@pytest.mark.parametrize("table", [frame(30).lazy(), frame(30)], ids=["lazy", "not"])
def test_a_column_that_is_not_there_is_named(table: Any) -> None:
    with pytest.raises(ValueError, match="no target column 'targte'; the columns are 'target'"):
        NaiveBayes().fit(table, "targte")


def test_a_missing_label_is_named_by_its_row() -> None:
    parts = [pl.DataFrame({"x": [1, 2], "y": ["a", of]}) for of in ("b", None)]
    with pytest.raises(ValueError, match="Row 3 has no label"):
        NaiveBayes().fit(iter(parts), "y")


@pytest.mark.parametrize("n", [3, 5])
def test_labels_beside_a_stream_must_be_as_many(n: int) -> None:
    parts = (pl.DataFrame({"x": [1, 2]}) for _ in range(2))
    with pytest.raises(ValueError, match=r"4 rows|more than 3 rows"):
        NaiveBayes().fit(parts, ["a", "b", "a", "b", "a"][:n])


def test_semi_supervised_learning_needs_all_rows_at_once() -> None:
    with pytest.raises(ValueError, match="semi_supervised=True needs all rows at once"):
        NaiveBayes(semi_supervised=True).fit(frame().lazy(), "target")


@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
@pytest.mark.parametrize("longest", [0, 9])
def test_long_strings_come_in_pieces(longest: int, size: int, rows: int) -> None:
    rng = np.random.default_rng(15)
    first, second = (
        [None if rng.random() < 0.2 else "a" * rng.integers(longest + 1) for _ in range(40)]
        for _ in range(2)
    )
    columns = {
        "first": (pack_strings(["before", *first])[1:], "string"),
        "second": (pack_strings(second), "string"),
        "number": (np.arange(40), "number"),
    }
    pieces = list(in_pieces(columns, rows, size))
    whole = {name: [cell for of in pieces for cell in of[name][0]] for name in columns}
    assert whole == {"first": first, "second": second, "number": list(range(40))}
    bytes_of = [len(a or "") + len(b or "") for a, b in zip(first, second, strict=True)]
    for piece in pieces:
        some = [bytes_of[i] for i in piece["number"][0]]
        assert 0 < len(some) <= rows
        assert sum(some[:-1]) < size  # all but the last row fit
    if longest:
        assert len(list(in_pieces(columns, 40, sum(bytes_of)))) == 1


MEMORY = """
import re, sys
from pathlib import Path
import numpy as np, polars as pl
from naively import NaiveBayes, set_threads

set_threads(1)
rng = np.random.default_rng(0)
words = np.array(["".join(rng.choice([*"abcdefghij"], 6)) for _ in range(3_000)])
texts = [" ".join(words[rng.integers(3_000, size=60)]) for _ in range(5_000)]
labels = rng.integers(2, size=5_000)


def batches(n):
    for i in range(n):  # the same words and pairs of words in other rows
        order = np.random.default_rng(i).permutation(len(texts))
        yield pl.DataFrame({"text": [texts[j] for j in order], "y": labels[order]})


NaiveBayes().fit(batches(int(sys.argv[1])), "y")
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
print(int(peak[1]) / 1e3, sum(map(len, texts)) / 1e6)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Linux alone says the peak of a process in /proc"
)
def test_more_batches_of_the_same_words_take_no_more_memory() -> None:
    def peak(batches: int) -> list[float]:
        run = [sys.executable, "-W", "ignore", "-c", MEMORY, str(batches)]
        found = subprocess.run(run, check=True, capture_output=True, text=True)
        return [float(megabytes) for megabytes in found.stdout.split()]

    (few, each), (many, _) = peak(4), peak(16)
    assert many - few < 12 * each  # the texts alone of twelve batches more; their words are more
