"""How much is measured: all of it, tiny sizes (for tests), or what takes many minutes too."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

FEW = 300  # rows or texts of a data set where sizes are tiny


@dataclass(frozen=True)
class Setting:
    """How much is measured, and on which data.

    Parameters
    ----------
    data : Path, optional
        The folder that NAIVELY_DATA names.
    rounds : int
        How often each side runs.
    small : bool
        Tiny sizes, to see whether all of it runs.
    large : bool
        What takes minutes and gigabytes too.
    """

    data: Path | None = None
    rounds: int = 5
    small: bool = False
    large: bool = False

    def size(self, full: int, tiny: int) -> int:
        """Return a number of rows, columns, classes or words."""
        return tiny if self.small else full

    def texts(self, *names: str) -> tuple[list[str], np.ndarray]:
        """Read the texts and the labels of sets in JSON lines, one after another."""
        assert self.data is not None
        return read_texts(self.data, names, small=self.small)

    def table(self, name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Read a CSV file: its columns, and the labels."""
        import pandas as pd

        table = pd.read_csv(self.path(name))
        if self.small:
            table = table.sample(min(FEW, len(table)), random_state=0).reset_index(drop=True)
        y = table.pop(target).to_numpy()
        return table, y

    def path(self, name: str) -> Path:
        """Return where the table of this name is."""
        assert self.data is not None
        return self.data / "tables" / f"{name}.csv"


def read_texts(
    data: Path, names: tuple[str, ...], *, small: bool = False
) -> tuple[list[str], np.ndarray]:
    """Read the texts and the labels of sets in JSON lines, a few of each if sizes are tiny."""
    texts, labels = [], []
    for name in names:
        with gzip.open(data / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        if small:
            chosen = np.random.default_rng(0).permutation(len(records))[:FEW]
            records = [records[i] for i in chosen.tolist()]
        texts += [record["text"] or "" for record in records]
        labels += [record["label"] for record in records]
    return texts, np.array(labels)


def numbers(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a matrix of normal numbers whose means differ a little by class, and its classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    y[: min(k, n)] = np.arange(min(k, n))  # none is lacking
    X = rng.normal(size=(n, d))
    X += (y % 10)[:, None] * 0.1
    return X, y
