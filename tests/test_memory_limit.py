"""--memory-limit bounds what reading holds, and changes nothing that is read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from naively.wings import files
from naively.wings.cli.shared import size_of
from tests.test_cli import ok, sentence, table

ROWS = 100_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables of the same rows, CSV and Parquet."""
    folder = tmp_path_factory.mktemp("memory")
    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT i % 97 AS size, (['red', 'green', 'blue'])[1 + i % 3] AS colour, "
            "if((i % 97) + hash(i) % 50 > 70, 'large', 'small') AS kind FROM range(?) AS t(i)",
            params=[ROWS],
        )
        rows.write_csv(str(folder / "t.csv"))
        rows.write_parquet(str(folder / "t.parquet"))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "*.parquet"])
def test_a_limit_changes_nothing(
    data: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # files say when they were trained
    limit, model = ("--memory-limit", "300MB"), tmp_path / "model"
    scores = ok("train", data / name, "-t", "kind", "-o", model)
    free = model.read_bytes()
    assert ok("train", data / name, "-t", "kind", "-o", model, *limit) == scores
    assert model.read_bytes() == free
    expected = ok("predict", model, data / name)
    assert ok("predict", model, data / name, *limit) == expected
    assert len(table(expected)) == ROWS
    assert ok("evaluate", model, data / name, *limit) == ok("evaluate", model, data / name)


@pytest.mark.parametrize(
    ("written", "size"),
    [("300MB", 3 * 10**8), ("2GB", 2 * 10**9), ("1.5 gb", 1.5 * 10**9), ("1TiB", 2**40)],
)
def test_sizes(written: str, size: float) -> None:
    assert size_of(written) == size


@pytest.mark.parametrize("written", ["", "400", "MB", "-400MB", "4 00MB", "many", "1e3MB", "400XB"])
def test_a_wrong_size_is_one_sentence(data: Path, tmp_path: Path, written: str) -> None:
    with pytest.raises(ValueError, match="must be a size such as 400MB or 2GB"):
        size_of(written)
    said = sentence(
        "train", data / "t.csv", "-t", "kind", "-o", tmp_path / "m", f"--memory-limit={written}"
    )
    assert f"got {written!r}" in said
    assert not (tmp_path / "m").exists()


def test_too_little_is_one_sentence(data: Path, tmp_path: Path) -> None:
    arguments = ("train", data / "t.csv", "-t", "kind", "-o", tmp_path / "m")
    assert "at least 300MB" in sentence(*arguments, "--memory-limit", "99MB")
    with pytest.raises(ValueError, match="give more") as said:
        files.read(data / "t.parquet", memory=1 << 20)
    assert "t.parquet cannot be read in the memory" in str(said.value)


def test_batches_are_smaller(data: Path) -> None:
    def lengths(memory: int | None) -> list[int]:
        with files.opened(data / "t.parquet", memory=memory) as found:
            return [len(batch) for batch in found]

    assert lengths(None) == [ROWS]
    assert max(lengths(10**8)) < ROWS / 2
    assert sum(lengths(10**8)) == ROWS
    np.testing.assert_array_equal(
        files.read(data / "t.parquet", memory=10**8).values["size"],
        files.read(data / "t.parquet").values["size"],
    )
