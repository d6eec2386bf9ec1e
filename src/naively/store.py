"""The model file: safetensors, a JSON header and raw arrays. Loading it runs no code.

Written to a temporary file and renamed, so that a file is there whole or not at all.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Axis, Columns, Levels, Words
from naively.core.compute import Vocabulary
from naively.core.event import EventModel
from naively.core.statistic import Statistic
from naively.core.sums import Sums
from naively.core.tally import BlockTally, Tally
from naively.events import EVENT_MODELS, PRIORS
from naively.model import Model, Settings
from naively.schema import Group, Schema

FORMAT = 1
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
    write_whole(Path(path), content)


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
        If it is no model file, damaged, or of a newer version; the message says which.
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
        newer = int(header["format"]) > FORMAT
        if not newer:
            return _model(header, arrays), dict(header.get("provenance", {}))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__}: {error}.") from error
    raise ValueError(
        f"{path} has format {header['format']}, made by a newer version of naively "
        f"({header.get('version')}); this one reads up to {FORMAT}. Upgrade naively."
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name in the same folder, then rename it."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise type(error)(f"Cannot write {path}: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise type(error)(f"Cannot write {path}: {error.strerror}.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _header(model: Model, arrays: Arrays) -> dict[str, Any]:
    from importlib.metadata import version

    _put(arrays, "weight", model.tally.weight)
    prior = model.settings.class_prior
    return {
        "version": version("naively"),
        "classes": {"labels": model.classes.tolist(), "dtype": model.classes.dtype.str},
        "class_prior": list(prior.items())
        if isinstance(prior, Mapping)
        else prior
        if isinstance(prior, str)
        else [float(p) for p in prior],
        "estimate": model.settings.estimate,
        "columns": _names(model.schema.order),
        "groups": [_group(model, group, arrays) for group in model.schema.groups],
    }


def _group(model: Model, group: Group, arrays: Arrays) -> dict[str, Any]:
    tally = model.tally.blocks[group.name]
    for statistic, sums in tally.sums.items():
        _put(arrays, f"{group.name}/{statistic.value}", sums)
    return {
        "name": group.name,
        "event": group.event.name,
        "options": _options(group.event),
        "kind": group.kind,
        "columns": _names(group.columns),
        "statistics": [statistic.value for statistic in tally.sums],
        "axis": _axis(tally.axis, group.name, arrays),
    }


def _options(event: Any) -> dict[str, Any]:
    """Return an event model's settings; a prior is saved by name."""
    options = {field.name: getattr(event, field.name) for field in fields(event)}
    if options.get("prior") is not None:
        options["prior"] = {"name": type(event.prior).__name__, **asdict(event.prior)}
    return options


def _event(name: str, options: dict[str, Any]) -> EventModel:
    if options.get("prior") is not None:
        prior = dict(options["prior"])
        options = {**options, "prior": PRIORS[prior.pop("name")](**prior)}
    return EVENT_MODELS[name](**options)


def _names(columns: Any) -> Any:
    return len(columns) if isinstance(columns, range) else list(columns)


def _columns(saved: Any) -> Any:
    return range(saved) if isinstance(saved, int) else tuple(saved)


def _axis(axis: Axis, name: str, arrays: Arrays) -> dict[str, Any]:
    if isinstance(axis, Words):
        arrays[f"{name}/words"], arrays[f"{name}/ends"] = axis.vocabulary.to_arrays()
        return {"kind": "words", "columns": list(axis.columns)}
    if isinstance(axis, Levels):
        return {"kind": "levels", "columns": list(axis.columns), "levels": axis.levels}
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
        groups.append(Group(entry["name"], event, entry["kind"], _columns(entry["columns"])))
        blocks[entry["name"]] = _block(entry, arrays, k)
    prior = header["class_prior"]
    if isinstance(prior, list) and prior and isinstance(prior[0], list):
        prior = dict(prior)
    tally = Tally(classes, _get(arrays, "weight", (k,)), blocks)
    schema = Schema(tuple(groups), _columns(header["columns"]))
    if sorted(map(str, schema.columns)) != sorted(str(n) for g in groups for n in g.columns):
        raise ValueError("the groups do not hold the columns")
    return Model(schema, tally, Settings(prior, header["estimate"]))


def _block(entry: dict[str, Any], arrays: Arrays, k: int) -> BlockTally:
    name, saved = entry["name"], entry["axis"]
    axis: Axis
    if saved["kind"] == "words":
        vocabulary = Vocabulary.from_arrays(arrays[f"{name}/words"], arrays[f"{name}/ends"])
        axis = Words(tuple(saved["columns"]), vocabulary)
    elif saved["kind"] == "levels":
        axis = Levels(tuple(saved["columns"]), tuple(map(tuple, saved["levels"])))
    else:
        axis = Columns(_columns(saved["columns"]))
    sums = {}
    for statistic in map(Statistic, entry["statistics"]):
        height = len(axis) if axis.per_row(statistic) else len(axis.columns)
        sums[statistic] = _get(arrays, f"{name}/{statistic.value}", (height, k))
    return BlockTally(axis, sums)


def _get(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Sums:
    high = arrays[f"{name}/high"]
    sums = Sums(high, arrays.get(f"{name}/low"))
    if high.shape != shape or sums.low.shape != shape or high.dtype != np.float64:
        raise ValueError(f"{name} has shape {high.shape} instead of {shape}")
    if not (np.isfinite(high).all() and np.isfinite(sums.low).all()):
        raise ValueError(f"{name} holds numbers that are not finite")
    return sums
