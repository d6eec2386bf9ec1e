"""What the header of a model file holds, declared as types; and how older headers are upgraded.

Arrays stay as they are: the header says what the names of a group's arrays begin with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from naively.counting.axis import Name
from naively.data.columns import Kind
from naively.events import Beta, Dirichlet
from naively.events.base import How
from naively.model.file.declared import read
from naively.model.weights import Weighting

FORMAT = 4  # of the files that are written now
WITH_CHECKSUM = 3  # the first format that has one

Saved: TypeAlias = dict[str, Any]
Columnar: TypeAlias = range | tuple[Name, ...]  # numbered columns, or their names
SavedColumns: TypeAlias = int | tuple[Name, ...]  # how many numbered columns, or their names


@dataclass(frozen=True)
class SavedClasses:
    """The class labels as JSON has them, and the type of their array."""

    labels: tuple[Any, ...]
    dtype: str  # of NumPy; or "date" or "datetime", whose labels are written by ISO 8601


@dataclass(frozen=True)
class SavedAxis:
    """The names of the rows of a group's tables; words and cells are arrays."""

    kind: Literal["words", "levels", "cells", "columns"]
    columns: SavedColumns
    levels: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class SavedKey:
    """What a group is known by (see ``GroupKey``)."""

    event: str
    options: Saved
    kind: Kind
    column: Name | None = None
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
    column: Name | None = None
    analyser: Saved | None = None


@dataclass(frozen=True)
class SavedWeights:
    """Which parts have weights, by group, column and band; the weights themselves are arrays."""

    of: tuple[tuple[int, Name | None, int | None], ...]
    usual: float
    rows: float
    how: Weighting
    groups: tuple[SavedKey, ...] | None = None  # None stands for the groups that were counted


@dataclass(frozen=True)
class SavedSample:
    """A sample of the rows that were learned: in how many batches; their cells are arrays."""

    seed: int
    seen: int  # rows that the sample was drawn from
    batches: int


@dataclass(frozen=True)
class Header:
    """All of a model but its arrays."""

    format: int
    classes: SavedClasses
    class_prior: str | tuple[Any, ...] | Beta | Dirichlet
    estimate: How
    columns: SavedColumns
    groups: tuple[SavedGroup, ...]
    version: str = ""
    smoothing: float | str = "auto"
    text: Literal["words", "blocks"] = "words"
    free: tuple[Name, ...] = ()
    weights: SavedWeights | None = None
    notes: tuple[tuple[Name, str], ...] = ()
    provenance: Saved = field(default_factory=dict)
    checksum: str | None = None
    sample: SavedSample | None = None


class ChangedError(ValueError):
    """An older file holds an event model that is computed in another way now."""


class NewerError(ValueError):
    """A file was made by a newer version of naively."""


def check_format(saved: Saved) -> None:
    """Raise an error unless this version of naively reads the format of a file.

    Raises
    ------
    NewerError
        If a newer version of naively made the file.
    ValueError
        If the header has no format, or lacks the checksum that its format has.
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
    if number >= WITH_CHECKSUM and saved.get("checksum") is None:
        raise ValueError("it has no checksum")


def read_header(saved: Saved) -> Header:
    """Return the header of a file of any format.

    Raises
    ------
    ChangedError
        If an event model is computed in another way now; it says which.
    ValueError
        If it is no such header; it says what is wrong.
    """
    return read(Header, upgrade(saved), "the header")


def upgrade(header: Saved) -> Saved:
    """Return the header in the present format.

    Raises
    ------
    ChangedError
        If an event model is computed in another way now; it says which.
    """
    if header["format"] > 1:
        return {**header, "format": FORMAT}  # all that is new may be absent
    try:
        return _from_1(header)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        kind = type(error).__name__
        raise ValueError(f"the header is not of format 1 ({kind}: {error})") from error


def _from_1(header: Saved) -> Saved:
    """Return a header of format 1 in the present format.

    Format 1 knew groups by their printed names, and had other settings of Gaussians.
    """
    groups = [
        {**group, "arrays": group["name"], "options": _options_of_1(group)}
        for group in header["groups"]
    ]
    weights = header.get("weights")
    if weights is not None:
        place = {group["name"]: i for i, group in enumerate(groups)}
        bands = dict.fromkeys(place, 0)
        parts = []
        for name, column in weights["of"]:
            group = groups[place[name]]
            if group["kind"] != "text" or column is None:
                parts.append([place[name], column, None])
                continue
            (text,) = group["columns"]
            # "...: all words", or bands of words in ascending order
            band = None if str(column).endswith(", all words") else bands[name]
            bands[name] += 1
            parts.append([place[name], text, band])
        weights = {**weights, "of": parts, "how": "loo"}  # it did not say
    groups = [{k: v for k, v in group.items() if k != "name"} for group in groups]
    return {**header, "groups": groups, "weights": weights, "format": FORMAT}


def _options_of_1(group: Saved) -> Saved:
    """Return the options of an event model of format 1.

    The smoothing of a Gaussian was the share of a variance (the column's or the largest) that was
    added to the variance.
    """
    options = dict(group["options"])
    if group["event"] not in ("gaussian", "lognormal"):
        return options
    share, of = options.pop("smoothing"), options.pop("floor")
    if options["prior"] is not None:
        return options
    if options["estimate"] == "predictive":
        raise ChangedError(
            f"a {group['event']} event model with estimate='predictive' and no prior has changed; "
            "train it again"
        )
    if options["estimate"] == "mle":
        share = 0.0
    return {**options, "estimate": "mean", "smoothing": 0.0, "floor": share, "floor_of": of}
