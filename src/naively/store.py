"""The model file: safetensors, a JSON header and raw arrays. Loading it runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import saving
from naively.core.analyser import Analyser
from naively.core.axis import Axis, Columns, Levels, Words, words_axis
from naively.core.cells import Cells, as_cells
from naively.core.event import EventModel
from naively.core.octaves import Part
from naively.core.statistic import Statistic
from naively.core.sums import Sums
from naively.core.tally import BlockTally, Tally
from naively.core.weights import Weights
from naively.data.patterns import Patterns
from naively.data.text import Text
from naively.events import EVENT_MODELS, PRIORS, Beta, Dirichlet
from naively.events.pairs import Pairs
from naively.formats import FORMAT, ChangedError, upgrade
from naively.model import Model, Settings
from naively.schema import Group, GroupKey, Schema

ANALYSERS: dict[str, Any] = {Text.name: Text, Patterns.name: Patterns}
KEY = "naively"  # of the header in the file's metadata

Arrays = dict[str, NDArray[Any]]


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
    from safetensors.numpy import save as to_bytes

    arrays: Arrays = {}
    header = {
        "format": FORMAT,
        **_header(model, arrays),
        "provenance": dict(provenance or {}),
    }
    content = to_bytes(
        {name: np.ascontiguousarray(a) for name, a in arrays.items()}, {KEY: json.dumps(header)}
    )
    saving.save(path, content)


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
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(KEY)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path} is not a model file, or it is damaged ({error}).") from error
    if text is None:
        raise ValueError(f"{path} is a safetensors file, but not a model of naively.")
    try:
        header = json.loads(text)
        kind = header.get("kind")
        newer = int(header["format"]) > FORMAT
        if not newer and kind is None:
            return _model(upgrade(header), arrays), dict(header.get("provenance", {}))
    except ChangedError as error:
        raise ValueError(f"{path} is of an older version of naively: {error}.") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__}: {error}.") from error
    if kind is not None:
        raise ValueError(f"{path} is the model of a mail {kind}: ask it by `naively {kind}`.")
    raise ValueError(
        f"{path} has format {header['format']}, made by a newer version of naively "
        f"({header.get('version')}); this one reads up to {FORMAT}. Upgrade naively."
    )


def _header(model: Model, arrays: Arrays) -> dict[str, Any]:
    from importlib.metadata import version

    _put(arrays, "weight", model.tally.weight)
    prior = model.settings.class_prior
    return {
        "version": version("naively"),
        "classes": {"labels": _labels(model.classes), "dtype": model.classes.dtype.str},
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


def _labels(classes: NDArray[Any]) -> list[Any]:
    labels: list[Any] = (classes.astype(str) if classes.dtype.kind == "M" else classes).tolist()
    return labels


def _weights(model: Model, arrays: Arrays) -> dict[str, Any] | None:
    weights = model.weights
    if weights is None:
        return None
    classes = model.classes.tolist()
    place = {group.key: i for i, group in enumerate(model.schema.groups)}
    parts = [part for part in weights.of if part.group in place]
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


def _read_weights(
    saved: dict[str, Any] | None, arrays: Arrays, classes: NDArray[Any], groups: list[Group]
) -> Weights | None:
    if saved is None:
        return None
    weight, bias = arrays["weights"], arrays["bias"]
    usual, rows = float(saved["usual"]), float(saved["rows"])
    if weight.shape != (len(saved["of"]), len(classes)) or bias.shape != classes.shape:
        raise ValueError("weights have the wrong shape")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and 0 <= usual < np.inf):
        raise ValueError("weights must be finite and at least 0")
    known_by = (
        [_key(key) for key in saved["groups"]] if "groups" in saved else [g.key for g in groups]
    )
    parts = [Part(known_by[int(i)], column, band) for i, column, band in saved["of"]]
    of = dict(zip(parts, map(tuple, weight.tolist()), strict=True))
    how = saved["how"]
    if how not in ("loo", "temperature"):
        raise ValueError(f"weights cannot be fitted by {how!r}")
    return Weights(tuple(classes.tolist()), of, tuple(bias.tolist()), usual, rows, how)


def _class_prior(prior: Any) -> Any:
    if isinstance(prior, Mapping):
        return list(prior.items())
    if isinstance(prior, Beta | Dirichlet):
        return _prior(prior)
    return prior if isinstance(prior, str) else [float(p) for p in prior]


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
    return {
        "event": key.event.name,
        "options": _options(key.event),
        "kind": key.kind,
        "column": key.column,
        "analyser": _analyser(key.analyser),
    }


def _key(saved: dict[str, Any]) -> GroupKey:
    event = _event(saved["event"], saved["options"])
    return GroupKey(event, saved["kind"], saved["column"], _read_analyser(saved["analyser"], event))


def _options(event: Any) -> dict[str, Any]:
    """Return an event model's settings; a prior is saved by name."""
    options = {field.name: getattr(event, field.name) for field in fields(event)}
    if options.get("prior") is not None:
        options["prior"] = _prior(event.prior)
    return options


def _prior(prior: Any) -> dict[str, Any]:
    return {"name": type(prior).__name__, **asdict(prior)}


def _read_prior(saved: Mapping[str, Any]) -> Any:
    values = dict(saved)
    return PRIORS[values.pop("name")](**values)


def _event(name: str, options: dict[str, Any]) -> EventModel:
    if options.get("prior") is not None:
        options = {**options, "prior": _read_prior(options["prior"])}
    return Pairs(**options) if name == Pairs.name else EVENT_MODELS[name](**options)


def _analyser(analyser: Analyser | None) -> dict[str, Any] | None:
    """Return all of an analyser's settings; its event model is saved with the group."""
    if analyser is None:
        return None
    settings = {f.name: getattr(analyser, f.name) for f in fields(analyser) if f.name != "event"}  # type: ignore[arg-type]
    return {"name": analyser.name, **settings}


def _read_analyser(saved: dict[str, Any] | None, event: EventModel) -> Analyser | None:
    if saved is None:
        return None
    settings = dict(saved)
    analyser: Analyser = ANALYSERS[settings.pop("name")](**settings, event=event)
    return analyser


def _names(columns: Any) -> Any:
    return len(columns) if isinstance(columns, range) else list(columns)


def _columns(saved: Any) -> Any:
    return range(saved) if isinstance(saved, int) else tuple(saved)


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


def _model(header: dict[str, Any], arrays: Arrays) -> Model:
    labels = header["classes"]
    dtype = np.dtype(labels["dtype"])
    classes = np.empty(len(labels["labels"]), object)
    classes[:] = labels["labels"]
    classes = classes if dtype.kind == "O" else classes.astype(dtype)
    k = len(classes)
    groups, blocks = [], {}
    for entry in header["groups"]:
        event = _event(entry["event"], entry["options"])
        columns, analyser = _columns(entry["columns"]), _read_analyser(entry["analyser"], event)
        group = Group(event, entry["kind"], columns, analyser)
        groups.append(group)
        blocks[group.key] = _block(entry, analyser, arrays, k)
    prior = header["class_prior"]
    if isinstance(prior, list) and prior and isinstance(prior[0], list):
        prior = dict(prior)
    elif isinstance(prior, dict):
        prior = _read_prior(prior)
    tally = Tally(classes, _get(arrays, "weight", (k,)), blocks)
    notes = dict(header.get("notes", []))
    free = frozenset(header.get("free", ()))
    schema = Schema(tuple(groups), _columns(header["columns"]), notes, free)
    grouped = [n for group in schema.of_columns if group.kind != "text" for n in group.columns]
    texts = {name for group in groups if group.kind == "text" for name in group.columns}
    twice = len(set(grouped)) < len(grouped) or texts & set(grouped)
    grouped += texts
    if twice or set(grouped) - set(schema.order) - set(schema.parts):
        raise ValueError("the groups do not hold the columns")
    weights = _read_weights(header.get("weights"), arrays, classes, groups)
    text: Any = header.get("text", "words")
    settings = Settings(prior, header["estimate"], header.get("smoothing", "auto"), text)
    return Model(schema, tally, settings, weights)


def _block(entry: dict[str, Any], analyser: Analyser | None, arrays: Arrays, k: int) -> BlockTally:
    name, saved = entry["arrays"], entry["axis"]
    axis: Axis
    if saved["kind"] == "words":
        if analyser is None:
            raise ValueError("texts without an analyser")
        words = () if analyser.features else (arrays[f"{name}/words"], arrays[f"{name}/ends"])
        axis = words_axis(tuple(saved["columns"]), analyser, *words)
    elif saved["kind"] == "levels":
        levels = (tuple(map(_level, of_column)) for of_column in saved["levels"])
        axis = Levels(tuple(saved["columns"]), tuple(levels))
    elif saved["kind"] == "cells":
        found = (arrays[f"{name}/{part}"] for part in ("shifts", "first", "keys"))
        axis = as_cells(_columns(saved["columns"]), *found)
        axis.check()
    else:
        axis = Columns(_columns(saved["columns"]))
    sums = {}
    for statistic in map(Statistic, entry["statistics"]):
        height = len(axis) if axis.per_row(statistic) else len(axis.columns)
        sums[statistic] = _get(arrays, f"{name}/{statistic.value}", (height, k))
    return BlockTally(axis, sums)


def _level(saved: Any) -> Any:
    """Return a level, which is a tuple if it is a whole row."""
    return tuple(saved) if isinstance(saved, list) else saved


def _get(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Sums:
    high = arrays[f"{name}/high"]
    sums = Sums(high, arrays.get(f"{name}/low"))
    if high.shape != shape or sums.low.shape != shape or high.dtype != np.float64:
        raise ValueError(f"{name} has shape {high.shape} instead of {shape}")
    if not (np.isfinite(high).all() and np.isfinite(sums.low).all()):
        raise ValueError(f"{name} holds numbers that are not finite")
    return sums
