"""The model file: safetensors, a JSON header and raw arrays. Loading it runs no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from naively import saving
from naively.counting.analyser import Analyser
from naively.counting.axis import Axis, Levels, Words
from naively.counting.cells import Cells
from naively.events import Beta, Dirichlet
from naively.kernels.double_double import Sums
from naively.model.file import container
from naively.model.file.container import Arrays
from naively.model.file.formats import FORMAT, ChangedError, NewerError, check_format, read_header
from naively.model.file.labels import write_classes, write_probabilities
from naively.model.file.restore import ANALYSERS, EVENTS, restore
from naively.model.model import Model
from naively.schema.group import Group, GroupKey

LONGEST = 300  # of what is said of a damaged file, in characters


def save(
    model: Model, path: str | PathLike[str], provenance: Mapping[str, Any] | None = None
) -> None:
    """Write a model file; on any failure an existing file stays as it was.

    ``provenance`` is anything JSON can hold about where the model comes from.

    Raises
    ------
    OSError
        If the file cannot be written; the message names it.
    """
    arrays: Arrays = {}
    header = {
        "format": FORMAT,
        **_header(model, arrays),
        "provenance": dict(provenance or {}),
    }
    saving.save(path, container.to_bytes(header, arrays))


def load(path: str | PathLike[str]) -> Model:
    """Read a model file (see ``load_with_provenance``)."""
    return load_with_provenance(path)[0]


def load_with_provenance(path: str | PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read a model file, and what was noted about where it comes from.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is no model file, damaged, of a newer version, or of an older one whose model has
        changed; the message says which.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    saved, content = container.read(path)
    kind = saved.get("kind")
    if kind is not None:
        raise ValueError(f"{path} is the model of a mail {kind}: ask it by `naively {kind}`.")
    try:
        check_format(saved)
        container.check(saved, content)
        header = read_header(saved)
        return restore(header, container.arrays_of(content)), header.provenance
    except NewerError as error:
        raise ValueError(f"{path} {error}") from error
    except ChangedError as error:
        raise ValueError(f"{path} is of an older version of naively: {error}.") from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {_brief(str(error))}.") from error


def _brief(said: str) -> str:
    """Return what is wrong without what a file may have made it long by."""
    return said.rstrip(".") if len(said) <= LONGEST else f"{said[:LONGEST]}..."


def _header(model: Model, arrays: Arrays) -> dict[str, Any]:
    from importlib.metadata import version

    _put(arrays, "weight", model.tally.weight)
    prior = model.settings.class_prior
    return {
        "version": version("naively"),
        "classes": write_classes(model.classes),
        "class_prior": _class_prior(prior),
        "estimate": model.settings.estimate,
        "smoothing": model.settings.smoothing,
        "text": model.settings.text,
        "columns": _names(model.counted.order),
        "free": [name for name in model.counted.order if name in model.counted.free],
        "weights": _weights(model, arrays),
        "notes": list(model.counted.notes.items()),
        "groups": [
            _group(model, group, str(i), arrays) for i, group in enumerate(model.counted.groups)
        ],
    }


def _weights(model: Model, arrays: Arrays) -> dict[str, Any] | None:
    weights = model.weights
    if weights is None:
        return None
    classes = model.classes.tolist()
    place = {key: i for i, key in enumerate(dict.fromkeys(part.group for part in weights.of))}
    parts = list(weights.of)
    arrays["weights"] = weights.table(parts, classes)
    arrays["bias"] = weights.bias_of(classes)
    of = [[place[part.group], part.column, part.band] for part in parts]
    return {
        "groups": [_known_by(key) for key in place],
        "of": of,
        "usual": weights.usual,
        "rows": weights.rows,
        "how": weights.how,
    }


def _class_prior(prior: Any) -> Any:
    if isinstance(prior, Beta | Dirichlet):
        return _prior(prior)
    return prior if isinstance(prior, str) else write_probabilities(prior)


def _group(model: Model, group: Group, name: str, arrays: Arrays) -> dict[str, Any]:
    tally = model.tally.blocks[group.key]
    for statistic, sums in tally.sums.items():
        _put(arrays, f"{name}/{statistic.value}", sums)
    return {
        "arrays": name,  # what their names begin with
        **_known_by(group.key),
        "columns": _names(group.columns),
        "statistics": [statistic.value for statistic in tally.sums],
        "axis": _axis(tally.axis, name, arrays),
    }


def _known_by(key: GroupKey) -> dict[str, Any]:
    for part, known in ((key.event, EVENTS), (key.analyser, ANALYSERS)):
        if part is not None and known.get(part.name) is not type(part):
            what = "event model" if part is key.event else "analyser"
            raise TypeError(f"A model file cannot hold the {what} {type(part).__name__}.")
    return {
        "event": key.event.name,
        "options": _options(key.event),
        "kind": key.kind,
        "column": key.column,
        "analyser": _analyser(key.analyser),
    }


def _options(event: Any) -> dict[str, Any]:
    """Return an event model's settings; a prior is saved by name."""
    options = {field.name: getattr(event, field.name) for field in fields(event)}
    if options.get("prior") is not None:
        options["prior"] = _prior(event.prior)
    return options


def _prior(prior: Any) -> dict[str, Any]:
    return {"name": type(prior).__name__, **asdict(prior)}


def _analyser(analyser: Analyser | None) -> dict[str, Any] | None:
    """Return all of an analyser's settings; its event model is saved with the group."""
    if analyser is None:
        return None
    settings = {f.name: getattr(analyser, f.name) for f in fields(analyser) if f.name != "event"}  # type: ignore[arg-type]
    return {"name": analyser.name, **settings}


def _names(columns: Any) -> Any:
    return len(columns) if isinstance(columns, range) else list(columns)


def _axis(axis: Axis, name: str, arrays: Arrays) -> dict[str, Any]:
    if isinstance(axis, Words):
        if axis.grows:
            arrays[f"{name}/words"], arrays[f"{name}/ends"] = axis.vocabulary.to_arrays()
        return {"kind": "words", "columns": list(axis.columns)}
    if isinstance(axis, Levels):
        return {"kind": "levels", "columns": list(axis.columns), "levels": axis.levels}
    if isinstance(axis, Cells):
        arrays[f"{name}/keys"] = np.concatenate([np.empty(0, np.int64), *axis.keys])
        arrays[f"{name}/shifts"] = np.array(axis.shifts, np.int64)
        arrays[f"{name}/first"] = axis.first
        return {"kind": "cells", "columns": _names(axis.columns)}
    return {"kind": "columns", "columns": _names(axis.columns)}


def _put(arrays: Arrays, name: str, sums: Sums) -> None:
    arrays[f"{name}/high"] = sums.high
    if sums.low.any():
        arrays[f"{name}/low"] = sums.low
