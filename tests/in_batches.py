"""A file read in batches, as often as it must be; predictions that come in batches, joined."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from naively.data.stream import ReadAgainError
from naively.wings.files import FileColumns, opened


def in_batches(path: Path | str, rows: int, **options: Any) -> list[FileColumns]:
    """Return the batches of a file, of at most so many rows each."""
    with opened(path, rows=rows, **options) as table:
        while True:
            try:
                return [FileColumns(batch, table.notes) for batch in table]
            except ReadAgainError:
                continue


def joined(found: Any) -> np.ndarray:
    """Return predictions as an array, though they may be lazy or come in batches."""
    if isinstance(found, pl.LazyFrame):
        frame = found.collect()
        return frame.to_numpy() if frame.width > 1 else frame.to_series().to_numpy()
    return np.concatenate(list(found)) if isinstance(found, Iterator) else found
