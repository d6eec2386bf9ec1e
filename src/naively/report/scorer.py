"""What the page moves rows with: the model's scorecard, the columns, and the rows to start from.

The page's program scores rows by the scorecard, as any other program can, so that every cell can
be moved freely, whatever columns say together.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.counting.axis import Name, title
from naively.data.columns import Kind
from naively.data.rows import Rows
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.model import Model
from naively.model.one_column import OneColumn
from naively.model.scorecard.scorecard import Scorecard
from naively.model.scorecard.terms import plain_floats
from naively.report.subject import Subject

COLUMNS = 100  # that can be moved
MOST = 2_000_000  # characters of JSON on the page
SHORTEST = 4  # characters of a number in JSON, with its comma
STEPS = 100  # of a slider, at least
NOT_PLAIN = re.compile(r"[^ -;=-~]+")  # all but ASCII without control characters and "<"


@dataclass(frozen=True, eq=False)
class Scorer:
    """What the page needs to move rows and to score them.

    Parameters
    ----------
    json : str
        What the page's program reads, in which nothing can end the element that holds it; "null"
        if no cell can be moved.
    columns : int
        How many columns can be moved.
    read : int
        How many columns the scores depend on.
    why : str
        Why no cell can be moved; empty if some can.
    """

    json: str
    columns: int = 0
    read: int = 0
    why: str = ""


def make_scorer(subject: Subject) -> Scorer:
    """Return what the page needs to move the cells of rows, those of the best columns first."""
    model = subject.model
    try:
        card = Scorecard.of(model)
    except ValueError as error:
        return Scorer("null", why=f"No cell can be moved here. {error}")
    if _least_size(card) > MOST:
        return _too_large()
    read = set(card.columns)
    names = [name for name in subject.worth if title(name) in read]
    shown = subject.shown
    rows = None if shown is None else model.schema.match(shown.rows)
    cells = {name: _cells(rows, name, model.schema.kinds[name]) for name in names}
    starts = [
        {
            "name": f"{one.why}: row {one.row}",
            "cells": {title(name): of[i] for name, of in cells.items()},
        }
        for i, one in enumerate([] if shown is None else shown.chosen)
    ]
    moved = names[:COLUMNS]
    numbers = subject.numbers
    written = page_json(
        {
            "card": card.to_dict(),
            "classes": [visible(str(label)) for label in model.classes.tolist()],
            "columns": [
                {
                    "name": title(name),
                    "kind": model.schema.kinds[name],
                    **_slider(model, name, numbers.get(name), cells[name]),
                }
                for name in moved
            ],
            "rows": starts,
        }
    )
    if len(written) > MOST:
        return _too_large()
    return Scorer(written, len(moved), len(names))


def page_json(value: object) -> str:
    r"""Return JSON for a page: what is not printed, and any ``<``, is there by its escape alone.

    >>> page_json({"</script>": "\u202eé"})
    '{"\\u003c/script>":"\\u202eé"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return NOT_PLAIN.sub(lambda found: "".join(map(_character, found[0])), text)


def _character(of: str) -> str:
    if of == "<":
        return "\\u003c"
    return of if of.isprintable() else json.dumps(of)[1:-1]


def _too_large() -> Scorer:
    why = f"No cell can be moved here, as the model takes more than {MOST // 10**6} MB of JSON."
    return Scorer("null", why=why)


def _least_size(card: Scorecard) -> int:
    """Return how many characters the numbers and tokens of a scorecard take in JSON at least."""
    held = [of for term in card.terms for of in vars(term).values()]
    numbers = SHORTEST * sum(of.size for of in held if isinstance(of, np.ndarray))
    return numbers + sum(len(token) + 3 for of in held if isinstance(of, list) for token in of)


def _cells(rows: Rows | None, name: Name, kind: Kind) -> list[Any]:
    """Return the cells of a column as the scorecard's program reads them; None where missing."""
    if rows is None:
        return []
    if kind in {"number", "boolean"}:
        there = rows.numbers([name])[:, 0].astype(np.float64)
        numbers: list[Any] = plain_floats(there)
        cells = [None if np.isnan(x) else of for x, of in zip(there, numbers, strict=True)]
        return [bool(x) if kind == "boolean" and x is not None else x for x in cells]
    values = rows.values(name)
    if kind == "time" and values.dtype.kind == "M":
        return [None if np.isnat(time) else str(time).removesuffix(".000000") for time in values]
    return [of if of is None or isinstance(of, str) else list(of) for of in values.tolist()]


def _slider(
    model: Model, name: Name, numbers: Floats | None, cells: list[Any]
) -> Mapping[str, float]:
    """Return the least and the greatest number of a slider, and its step; nothing without any.

    Numbers are of shape (numbers,), of the sample of learned rows or else of the other rows.
    """
    if model.schema.kinds[name] != "number":
        return {}
    numbers = np.empty(0) if numbers is None else numbers
    known = np.array([*numbers, *(x for x in cells if isinstance(x, float))], np.float64)
    known = known[np.isfinite(known)]
    column = OneColumn.find(model, name)
    if not len(known) and column.is_number:
        known = np.array(column.range(()))
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    if not 1e-300 < high - low < 1e300:
        return {}
    is_whole = len(numbers) > 0 and bool((known == np.rint(known)).all())
    digits = 0 if is_whole else math.ceil(math.log10(STEPS / (high - low)))
    step = 10.0**-digits
    found = {"low": math.floor(low / step) * step, "high": math.ceil(high / step) * step}
    return {side: round(x, max(digits, 0)) for side, x in found.items()} | {"step": step}
