"""A model of labelled rows, by event models that are given or chosen."""

from __future__ import annotations

from naively.counting.labels import Labels
from naively.data.columns import Rows
from naively.model.model import Model
from naively.schema.choose import EventModels, infer, read_as_given
from naively.schema.settings import PURE, Settings


def learn(rows: Rows, labels: Labels, given: EventModels = "auto", how: Settings = PURE) -> Model:
    """Choose the event models, and count."""
    rows = read_as_given(rows, given, how)
    return Model.learn(rows, labels, infer(rows, given, how), how)
