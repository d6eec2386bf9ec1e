"""A file read in batches, as often as it must be."""

from pathlib import Path
from typing import Any

from naively.data.files import FileColumns, opened
from naively.data.stream import ReadAgainError


def in_batches(path: Path | str, rows: int, **options: Any) -> list[FileColumns]:
    """Return the batches of a file, of at most so many rows each."""
    with opened(path, rows=rows, **options) as table:
        while True:
            try:
                return [FileColumns(batch, table.notes) for batch in table]
            except ReadAgainError:
                continue
