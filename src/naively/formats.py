"""Older model files: their headers, brought up to the present format.

The arrays stay as they are: a group says under which name its own are.
"""

from __future__ import annotations

from typing import Any

FORMAT = 2  # of the files that are written now

Header = dict[str, Any]


class ChangedError(ValueError):
    """An event model of an older file is none that there is now."""


def upgrade(header: Header) -> Header:
    """Return the header in the present format.

    Raises
    ------
    ChangedError
        If a model cannot be what it was; it says which.
    """
    return _from_1(header) if int(header["format"]) == 1 else header


def _from_1(header: Header) -> Header:
    """Format 1 knew groups by their printed names, and had other settings of Gaussians."""
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
    return {**header, "groups": groups, "weights": weights, "format": FORMAT}


def _options_of_1(group: Header) -> Header:
    """Smoothing was the share of a variance, of the column's or of the largest, that was added."""
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
