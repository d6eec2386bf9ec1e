"""The benchmark of the way in: its rows, its peers and its measures, at a small size."""

import sys

import duckdb
import numpy as np
import pytest

pytest.importorskip("nanoarrow")

from benchmarks import data as benchmark
from benchmarks.by_hand import ByHand
from benchmarks.data import walk
from benchmarks.process import cost
from benchmarks.rows import LEVELS, NUMBERS, STRINGS, TARGET, query

N = 300


def arrow(rows=N):
    with duckdb.connect() as connection:
        return connection.query(query(rows)).to_arrow_table()


def run(*arguments):
    benchmark.main([*arguments, "--rows", "200", "--rounds", "1"])


def test_rows_are_five_numbers_and_five_strings_of_which_the_target_tells():
    table = arrow(20_000).to_pandas()
    assert list(table) == [*NUMBERS, *STRINGS, TARGET]
    assert [table[name].dtype.kind in "fi" for name in NUMBERS] == [True] * 5
    assert [table[name].nunique() for name in STRINGS] == list(LEVELS)
    yes = table[TARGET] == "yes"
    assert table["normal"][yes].mean() > table["normal"][~yes].mean() + 1
    assert yes.groupby(table["of_10"]).mean().agg(np.ptp) > 0.1
    assert arrow().equals(arrow())


@pytest.mark.parametrize("holder", benchmark.HOLDERS)
def test_each_holder_holds_the_same_rows(holder):
    held = benchmark.HOLDERS[holder].make(arrow())
    assert walk(held) == walk(benchmark.HOLDERS[holder].without_target(held)) == N
    seen = benchmark.HOLDERS[holder].for_scikit_learn(held)
    assert np.asarray(seen["of_10"]).tolist() == arrow()["of_10"].to_pylist()


def test_scikit_learn_in_batches_is_scikit_learn_at_once():
    table = arrow().to_pandas()
    once = ByHand(NUMBERS, STRINGS).fit(table, table[TARGET])
    levels = [np.unique(table[name].to_numpy(object)) for name in STRINGS]
    batches = [table[:100], table[100:]]
    apart = ByHand(NUMBERS, STRINGS).fit_batches(batches, levels, TARGET, ["no", "yes"])
    P = once.predict_proba(table)
    # GaussianNB adds a share of the largest variance of the batch that came last.
    np.testing.assert_allclose(apart.predict_proba(table), P, atol=1e-3)
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.slow
def test_memory_is_that_of_the_command_alone():
    held = np.ones(50_000_000)  # 400 MB of the process that starts it
    little = cost([sys.executable, "-S", "-c", "pass"])
    much = cost([sys.executable, "-S", "-c", "held = b'1' * 200_000_000"])
    assert held.any()
    assert little.peak < 100 < 200 <= much.peak < 300
    with pytest.raises(RuntimeError, match="NameError"):
        cost([sys.executable, "-S", "-c", "nothing"])


@pytest.mark.slow
def test_frames_are_measured(capsys):
    run(*benchmark.HOLDERS)
    found = capsys.readouterr().out
    assert all(
        f"{name}: {verb}" in found for name in benchmark.HOLDERS for verb in ("fit", "predict")
    )


@pytest.mark.slow
def test_files_are_measured_and_removed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run("csv-count", "csv-train", "parquet-predict")
    found = capsys.readouterr().out
    assert "200.csv: fit, weights=None" in found
    assert "200.csv: naively train" in found
    assert "naively predict" in found
    assert not list(tmp_path.iterdir())
