"""Several files are one table: their rows one after another, their columns by name.

The folders that a file lies in may say more: the files in ``day=2026-11-21`` have a column "day".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

import numpy as np

from naively.data.columns import Column
from naively.data.files.source import plain_extension
from naively.data.guess import Guess
from naively.data.stream import Stream
from naively.kernels.strings import Strings

TABLES = (".parquet", ".pq", ".csv", ".tsv", ".jsonl", ".ndjson")  # .txt may be a text of its own
SPELLED: tuple[Guess, ...] = ("number", "boolean", "time")  # what the name of a folder may be


def files_at(path: Path) -> list[Path] | None:
    r"""Return the tables at a pattern, or in a folder and its ``key=value`` folders, sorted.

    None is returned of a path that is one file, or a folder of something else.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "year=2026").mkdir()
    >>> _ = (folder / "year=2026" / "a.csv").write_text("b\n1\n")
    >>> [file.relative_to(folder).as_posix() for file in files_at(folder)]
    ['year=2026/a.csv']
    """
    if path.is_dir():
        return sorted(_within(path)) or None
    if path.exists() or not has_magic(str(path)):
        return None
    found = sorted(map(Path, glob(str(path), recursive=True)))  # noqa: PTH207  (any kind of path)
    if not found:
        raise FileNotFoundError(f"There is no file {path}.")
    return [file for each in found for file in (_within(each) if each.is_dir() else [each])]


def _within(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            yield from _within(entry) if "=" in entry.name else ()
        elif plain_extension(entry) in TABLES:
            yield entry


def partition_of(file: Path, root: Path) -> dict[str, str]:
    """Return what the folders between a root and a file say.

    >>> partition_of(Path("data/year=2026/month=11/a.parquet"), Path("data"))
    {'year': '2026', 'month': '11'}
    """
    within = file.parent.relative_to(root) if file.is_relative_to(root) else file.parent
    pairs = (part.partition("=") for part in within.parts if "=" in part)
    return {key: value for key, _, value in pairs}


class SeveralFiles(Stream):
    """The rows of several files, one file after another.

    Parameters
    ----------
    tables : sequence of Stream
        The files.
    partitions : sequence of dict of str to str
        What is said of each by its folders.
    names : sequence of str
        The columns.
    """

    def __init__(
        self,
        tables: Sequence[Stream],
        partitions: Sequence[dict[str, str]],
        names: Sequence[str],
    ) -> None:
        guesses = {name: of for table in tables for name, of in table.guesses.items()}
        said = {name: SPELLED for partition in partitions for name in partition}
        expected = {name: of for table in tables for name, of in table.expected.items()}
        super().__init__(names, guesses | said, expected)
        self._tables, self._partitions = tables, partitions
        totals = [table.total for table in tables if table.total is not None]
        self.total = sum(totals) if len(totals) == len(tables) else None
        self._begins: list[int] = []  # the first row of each file that was read

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for table in self._tables for note in table.notes)

    def columns(self) -> Iterator[dict[str, Column]]:
        self._begins, done = [], 0
        for table, partition in zip(self._tables, self._partitions, strict=True):
            self._begins.append(done)
            for columns in table.columns():
                rows = len(next(iter(columns.values()))[0])
                done += rows
                every = columns | {name: _same(text, rows) for name, text in partition.items()}
                nothing: Column = (np.full(rows, None, object), None)
                yield {name: every.get(name, nothing) for name in self.names}

    def where(self, name: str, row: int) -> tuple[str, str]:
        i = int(np.searchsorted(self._begins, row, side="right")) - 1
        return self._tables[i].where(name, row - self._begins[i])


def _same(text: str, rows: int) -> Column:
    utf8 = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    return Strings(np.arange(rows + 1) * len(utf8), np.tile(utf8, rows)), "string"
