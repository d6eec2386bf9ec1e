"""Headers of older formats are upgraded; arrays stay as they are."""

from __future__ import annotations

from collections.abc import Iterable

from naively.counting.names import title
from naively.data.times import CYCLES
from naively.model.file.declared import Json, Saved, read
from naively.model.file.formats import FORMAT, ChangedError, Header


def read_header(saved: Saved) -> Header:
    """Return the header of a file of any format.

    Raises
    ------
    ChangedError
        If an event model is computed in another way now; it says which.
    ValueError
        If it is no such header; it says what is wrong.
    """
    return read(Header, _upgraded(saved), "the header")


def _upgraded(header: Saved) -> Saved:
    """Return a header of any format in the present one."""
    number = header["format"]
    if number == FORMAT:
        return header
    try:
        # Between formats 2 and 3 the checksum is all that is new, and between 5 and 6 arrays.
        header = _from_1(header) if number == 1 else header
        header = _from_3(header) if number < 4 else header
        header = _from_4(header) if number < 5 else header
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        kind = type(error).__name__
        raise ValueError(f"the header is not of format {number} ({kind}: {error})") from error
    return {**header, "format": FORMAT}


def _from_1(header: Saved) -> Saved:
    """Return a header of format 1 in format 3.

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
    return {**header, "groups": groups, "weights": weights}


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


def _from_3(header: Saved) -> Saved:
    """Return a header of format 3 in format 4.

    Format 3 knew derived columns by their printed names, and the event model of interactions had
    their columns and bins.
    """
    groups = header["groups"]
    if sum(group["event"] == "pairs" for group in groups) > 1:
        raise ChangedError("interactions of models that were merged have changed; train it again")
    parts = _parts_of_3(groups)
    derived = [_derived_of_3(group, parts) for group in groups]
    weights = header.get("weights")
    if weights is not None:
        keys = weights.get("groups")
        names = derived if keys is None else [_derived_of_3(key, parts) for key in keys]
        of = [
            [group, names[group].get(column, column), band] for group, column, band in weights["of"]
        ]
        weights = {**weights, "of": of, "groups": keys and [_key_of_3(key) for key in keys]}
    upgraded = [
        {
            **_key_of_3(group),
            "columns": _renamed(group["columns"], names),
            "axis": {**group["axis"], "columns": _renamed(group["axis"]["columns"], names)},
        }
        for group, names in zip(groups, derived, strict=True)
    ]
    return {**header, "groups": upgraded, "weights": weights}


def _from_4(header: Saved) -> Saved:
    """Return a header of format 4 in format 5.

    Format 4 had no linear part, and a missing cell added nothing.
    """
    return {**header, "missing": "ignore"}


def _parts_of_3(groups: list[Saved]) -> Saved:
    """Return the parts of times that there are, by their printed names."""
    held = {name for group in groups if group["kind"] == "part" for name in group["columns"]}
    times = (_names(group["columns"]) for group in groups if group["kind"] == "time")
    every = {
        f"{title(of)} ({part})": {"name": "TimePart", "of": of, "part": part}
        for names in times
        for of in names
        for part in CYCLES
    }
    return {name: every[name] for name in held}


def _derived_of_3(key: Saved, parts: Saved) -> Saved:
    """Return the derived columns of a group, or what is known of one, by their printed names."""
    if key["kind"] == "part":
        return parts
    if key["event"] != "pairs":
        return {}
    bins = {
        column: {"name": kind, "column": parts.get(column, column), of: values}
        for kind, of in (("NumberBins", "edges"), ("LevelBins", "levels"))
        for column, values in key["options"][of]
    }
    return {
        f"{title(a)} × {title(b)}": {"name": "Interaction", "a": bins[a], "b": bins[b]}
        for a, b in key["options"]["pairs"]
    }


def _key_of_3(key: Saved) -> Saved:
    """Return a group, or what is known of one, with the event model of interactions as it is."""
    if key["event"] != "pairs":
        return key
    options = {name: key["options"][name] for name in ("m", "estimate")}
    return {**key, "event": "lift", "options": options, "kind": "interaction"}


def _names(columns: Json) -> Iterable[str | int]:
    return range(columns) if isinstance(columns, int) else columns


def _renamed(columns: Json, names: Saved) -> Json:
    """Return the names of columns, derived ones by what they follow from."""
    return [names.get(str(name), name) for name in columns] if names else columns
