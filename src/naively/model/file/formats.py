"""What the header of a model file holds, declared as types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from naively.counting.names import Level
from naively.data.columns import Kind
from naively.events import Beta, Dirichlet
from naively.model.added_noise import AddedNoise
from naively.model.file.declared import Saved, read
from naively.model.model import Sought
from naively.options import Weighting
from naively.schema.derived import Interaction, Missing, TimePart

FORMAT = 1

SavedName: TypeAlias = str | int | TimePart | Missing | Interaction
Columnar: TypeAlias = range | tuple[SavedName, ...]  # numbered columns, or their names
SavedColumns: TypeAlias = int | tuple[SavedName, ...]  # how many numbered columns, or their names


@dataclass(frozen=True)
class SavedClasses:
    """The class labels as JSON has them, and the type of their array."""

    labels: tuple[Level, ...]
    dtype: str  # of NumPy; or "date" or "datetime", whose labels are written by ISO 8601


@dataclass(frozen=True)
class SavedAxis:
    """The names of the rows of a group's tables; words and cells are arrays."""

    kind: Literal["words", "levels", "grid", "cells", "columns"]
    columns: SavedColumns
    levels: tuple[tuple[Level, ...], ...] = ()


@dataclass(frozen=True)
class SavedKey:
    """What a group is known by (see ``GroupKey``)."""

    event: str
    options: Saved
    kind: Kind
    column: str | int | None = None
    analyser: Saved | None = None


@dataclass(frozen=True)
class SavedGroup:
    """The columns of one event model."""

    arrays: str  # what the names of the group's arrays begin with
    event: str
    options: Saved
    kind: Kind
    columns: SavedColumns
    statistics: tuple[str, ...]
    axis: SavedAxis
    column: str | int | None = None
    analyser: Saved | None = None


@dataclass(frozen=True)
class SavedLinear:
    """The terms of a linear part, by group, column and level; all numbers are arrays."""

    terms: tuple[tuple[int, SavedName, Level | None], ...]  # a line has no level
    ridge: float


@dataclass(frozen=True)
class SavedWeights:
    """Which parts have weights, by group, column and band; the weights themselves are arrays."""

    of: tuple[tuple[int, SavedName | None, int | None], ...]
    usual: float
    rows: float
    how: Weighting
    groups: tuple[SavedKey, ...]
    linear: SavedLinear | None


@dataclass(frozen=True)
class SavedSample:
    """A sample of the rows that were learned: in how many batches; their cells are arrays."""

    seed: int
    seen: int  # rows that the sample was drawn from
    batches: int


@dataclass(frozen=True)
class Header:
    """All of a model but its arrays."""

    checksum: str
    format: int
    classes: SavedClasses
    settings: Saved  # those of the model, but for the class prior
    class_prior: Literal["data", "uniform"] | tuple[Level, ...] | Beta | Dirichlet
    columns: int | tuple[str | int, ...]  # of the table: none follows from others
    groups: tuple[SavedGroup, ...]
    version: str
    free: tuple[str | int, ...]
    weights: SavedWeights | None
    notes: tuple[tuple[str | int, str], ...]
    provenance: Saved
    sample: SavedSample | None = None
    noise: tuple[AddedNoise, ...] = ()
    sought: Sought | None = None


class NewerError(ValueError):
    """A file was made by a newer version of naively."""


def check_format(saved: Saved) -> None:
    """Raise an error unless this version of naively reads the format of a file.

    Raises
    ------
    NewerError
        If a newer version of naively made the file.
    ValueError
        If the header has no format.
    """
    number = read(int, saved.get("format"), "format")
    if number > FORMAT:
        version = read(str, saved.get("version", "unknown"), "version")
        raise NewerError(
            f"has format {number}, made by a newer version of naively ({version}); this one reads "
            f"up to {FORMAT}. Upgrade naively."
        )
    if number < 1:
        raise ValueError(f"there is no format {number}")
