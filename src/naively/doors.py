"""The doors: what the core asks of the wings around it, by name, imported when it is asked for.

The core (counting, estimation, scores, explanation) imports no wing but through this table.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DOORS = {  # the file of naively.wings, and what of it is asked for
    "card": "report.card:write_card",
    "file": "files:opened",
    "frame of a cluster": "databases.spark:LabelledFrame",
    "noise": "private:with_noise",
    "onnx": "onnx:onnx_of",
    "onnx inputs": "onnx:tensors_of",
    "picture": "pictures:picture",
    "predict on a cluster": "databases.spark:predict",
    "predict_proba on a cluster": "databases.spark:predict_proba",
    "random": "private:random_below",
    "report": "report.page:write_report",
    "sql options": "databases.query:QueryOptions",
    "sql query": "databases.query:score_query",
    "sql tokens": "databases.query:write_tokens",
    "subject of a report": "report.subject:Subject",
    "table of a database": "databases.tables:labelled_table",
    "table of a server": "databases.tallies:counted_there",
}


def wing(door: str) -> Any:
    """Return what is behind a door."""
    module, _, name = DOORS[door].partition(":")
    return getattr(import_module(f"naively.wings.{module}"), name)
