"""What the page moves rows with: the model's scorecard, the columns, and the rows to start from.

The page's program scores rows by the scorecard, as any other program can, so that every cell can
be moved freely, whatever columns say together.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import VALUE, Name, title
from naively.data.columns import Kind, Rows, column_rows
from naively.file.header import Json, Saved
from naively.frozen import Frozen
from naively.inspect.odds import strongest
from naively.inspect.one_column import OneColumn
from naively.inspect.scorecard import NOT_SEEN, Scorecard, plain_floats
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.class_prior import frequent
from naively.model.model import Model
from naively.terms.views import TokensTerm, cells_of
from naively.wings.report.subject import Subject

MOVABLE = 30  # columns that can be moved
MOST = 1_700_000  # characters of JSON on the page: of a page of at most 2 MB
FIXED = 50_000  # characters of what is no scorecard: the rows to start from
DIGITS = 3  # of the weights of tokens, where some are left out
SHORTEST = 4  # characters of a number in JSON, with its comma
STEPS = 100  # of a slider, at least
WORDS = 12  # of a text to start from
NOT_PLAIN = re.compile(r"[^ -;=-~]+")  # all but ASCII without control characters and "<"


class Scorer(Frozen):
    """What the page needs to move rows and to score them."""

    json: str  # what the page's program reads; "null" if no cell can be moved
    columns: int = 0  # how many columns can be moved
    read: int = 0  # how many columns the scores depend on
    why: str = ""  # why no cell can be moved; empty if some can
    left_out: str = ""  # what of the model is not on the page; empty if it is all there


def make_scorer(subject: Subject) -> Scorer:
    """Return what the page needs to move the cells of rows, those of the best columns first."""
    model, seen = subject.model, ""
    if model.weights is not None and model.weights.seen is not None:
        model, seen = replace(model, weights=replace(model.weights, seen=None)), NOT_SEEN
    try:
        card = Scorecard.of(model)
    except ValueError as error:
        return Scorer("null", why=f"No cell can be moved here. {error}")
    part, left_out = card, ""
    if _least_size(card) > MOST:
        part, left_out = _smaller(subject, card)
    written, columns, read = _write(subject, part, whole=not (left_out or seen))
    if len(written) > MOST and not left_out:
        part, left_out = _smaller(subject, card)
        written, columns, read = _write(subject, part, whole=False)
    if len(written) > MOST:
        why = f"No cell can be moved here, as the model takes more than {MOST:,} bytes of JSON."
        return Scorer("null", why=why)
    said = " ".join(filter(None, [left_out, seen]))
    return Scorer(written, columns, max(read, len(card.columns)), left_out=said)


def _smaller(subject: Subject, card: Scorecard) -> tuple[Scorecard, str]:
    """Return a scorecard that a page has room for, and what is left out."""
    if card.every(TokensTerm):
        return shortened_card(subject.model, card, MOST)
    there = set(card.columns)
    best = [title(name) for name in subject.worth if title(name) in there][:MOVABLE]
    terms = tuple(
        term for term in card.terms
        if all(name in best for cell in cells_of(term) for name in cell.columns)
    )  # fmt: skip
    return replace(card, terms=terms), "The others keep the cells of the row that you start from."


def _write(subject: Subject, card: Scorecard, *, whole: bool) -> tuple[str, int, int]:
    """Return what the page's program reads, and how many columns can be moved, and are read."""
    # Where the card is not the whole model, the posteriors that this has are with its rows.
    model, there, shown = subject.model, set(card.columns), subject.shown
    names = [name for name in subject.worth if title(name) in there]
    rows = None if shown is None else model.view.schema.match(shown.rows)
    cells = {name: _cells(rows, name, model.view.schema.kinds[name]) for name in names}
    starts: list[Saved] = []
    if shown is not None:
        for i, (one, row) in enumerate(zip(shown.chosen, shown.explained, strict=True)):
            of = {title(name): column[i] for name, column in cells.items()}
            said = {} if whole else {"whole": [row.probability(c) for c in range(len(row.classes))]}
            starts.append({"name": f"{one.why}: row {one.row}", "cells": of, **said})
    moved = names[:MOVABLE]
    written = page_json(
        {
            "card": card.to_dict(),
            "classes": [visible(str(label)) for label in model.classes.tolist()],
            "target": visible(subject.target),
            "against": [subject.spoken_for, int(subject.spoken_for == 0)],  # at first
            "columns": [
                {
                    "name": title(name),
                    "kind": model.view.schema.kinds[name],
                    **_slider(subject, name, cells[name]),
                }
                for name in moved
            ],
            "rows": starts or _of_words(subject),
            "others": not whole and not card.every(TokensTerm),
        }
    )
    return written, len(moved), len(names)


def _of_words(subject: Subject) -> list[Saved]:
    """Return texts of the words that speak for each class, where no row is kept to start from."""
    model, starts = subject.model, list[Saved]()
    kinds = model.view.schema.kinds
    for c in frequent(model.counted.tally.class_count) if {*kinds.values()} == {"text"} else []:
        words = strongest(model, c, WORDS)
        texts = {
            name: " ".join(str(w) for of, w, _ in words if of == title(name)) for name in kinds
        }
        rows = column_rows({name: np.array([text], object) for name, text in texts.items()}, kinds)
        starts.append({
            "name": f"words that speak for {subject.said(c)}",
            "cells": {title(name): text for name, text in texts.items()},
            "whole": model.posterior(rows)[0].tolist(),
        })  # fmt: skip
    return starts


def page_json(value: object) -> str:
    """Return JSON for a page: what is not printed, and any ``<``, is there by its escape alone."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return NOT_PLAIN.sub(lambda found: "".join(map(_character, found[0])), text)


def _character(of: str) -> str:
    if of == "<":
        return "\\u003c"
    return of if of.isprintable() else json.dumps(of)[1:-1]


# --- A large model of texts: the n-grams that matter most ----------------------------------------


def shortened_card(model: Model, card: Scorecard, most: int) -> tuple[Scorecard, str]:
    """Return a scorecard with fewer tokens, of at most so many characters, and what is left out."""
    # Tokens are kept by what texts gain from them: how far their weights for the classes are apart,
    # times how often they came. Weights are rounded, and made as much smaller as the texts of fewer
    # known tokens are shorter, as evidence is over a power of the length.
    groups = model.view.schema.groups
    keys = [group.key for group in groups if group.analyser is not None]
    terms = card.every(TokensTerm)
    if not terms:
        return card, ""
    counts = [np.asarray(model.view.counts[key].sums[VALUE].by_row(), np.float64) for key in keys]
    gains = [np.ptp(t.points, axis=1) * n for t, n in zip(terms, counts, strict=True)]
    every, ends = np.concatenate(gains), np.cumsum([*map(len, gains)])
    none = {id(t): replace(t, tokens=[], points=t.points[:0]) for t in terms}
    others = page_json(replace(card, terms=tuple(none.get(id(t), t) for t in card.terms)).to_dict())
    room = max(0, most - len(others) - FIXED)
    at_most = room // (SHORTEST * len(model.classes))  # more do not fit, however short they are
    order = np.argsort(-every, kind="stable")[:at_most]
    size = np.zeros(len(every), np.int64)
    for term, first, end in zip(terms, [0, *ends], ends, strict=False):
        some = order[(first <= order) & (order < end)]
        size[some] = _sizes(term, some - first)
    kept = np.zeros(len(every), np.bool_)
    kept[order[np.cumsum(size[order]) <= room]] = True
    parts = np.split(kept, ends[:-1])
    made = {id(t): _of_fewer(t, some, n) for t, some, n in zip(terms, parts, counts, strict=True)}
    shorter = replace(card, terms=tuple(made.get(id(t), t) for t in card.terms))
    share = float(every[kept].sum() / max(every.sum(), 1e-300))
    said = (
        f"The whole model is too large for a page: of {len(kept):,} words and n-grams the "
        f"{int(kept.sum()):,} that matter most are here, which carry {share:.1%} of what the "
        "learned texts gained from all. So the probabilities below are near those of the model, "
        "not equal to them; of rows to start from both are said."
    )
    return shorter, said


def _sizes(term: TokensTerm, some: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many characters some tokens take with their weights, (tokens,)."""
    points = _rounded(term.points[some]).tolist()
    tokens = (term.tokens[i] for i in some.tolist())
    each = [page_json([token, of]) for token, of in zip(tokens, points, strict=True)]
    return np.array([*map(len, each)], np.int64)


def _rounded(points: Floats) -> Floats:
    """Return weights with fewer digits; of two classes, less those of the first."""
    if points.shape[1] == 2 and np.isfinite(points).all():
        points = points - points[:, :1]
    return np.round(points, DIGITS)


def _of_fewer(term: TokensTerm, kept: NDArray[np.bool_], count: Floats) -> TokensTerm:
    """Return a term of some tokens, with rounded weights."""
    tokens = [token for token, there in zip(term.tokens, kept.tolist(), strict=True) if there]
    shorter = (count[kept].sum() / max(count.sum(), 1e-300)) ** term.length_power
    return replace(term, tokens=tokens, points=_rounded(term.points[kept] * shorter))


def _least_size(card: Scorecard) -> int:
    """Return how many characters the numbers and tokens of a scorecard take in JSON at least."""
    held = [of for term in card.terms for of in vars(term).values()]
    numbers = SHORTEST * sum(of.size for of in held if isinstance(of, np.ndarray))
    return numbers + sum(len(token) + 3 for of in held if isinstance(of, list) for token in of)


def _cells(rows: Rows | None, name: Name, kind: Kind) -> list[Json]:
    """Return the cells of a column as the scorecard's program reads them; None where missing."""
    if rows is None:
        return []
    if kind in {"number", "boolean"}:
        there = rows.numbers([name])[:, 0].astype(np.float64)
        numbers = zip(there, plain_floats(there), strict=True)
        cells = [None if np.isnan(x) else of for x, of in numbers]
        return [bool(x) if kind == "boolean" and x is not None else x for x in cells]
    values = rows.values(name)
    if kind == "time" and values.dtype.kind == "M":
        return [None if np.isnat(time) else str(time).removesuffix(".000000") for time in values]
    return [of if of is None or isinstance(of, str) else list(of) for of in values.tolist()]


def _slider(subject: Subject, name: Name, cells: list[Json]) -> Mapping[str, float]:
    """Return the least and the greatest number of a slider, and its step; nothing without any."""
    if subject.model.view.schema.kinds[name] != "number":
        return {}
    column = OneColumn.find(subject.model, name)
    numbers = column.values([] if subject.sample is None else subject.sample.batches)[0]
    known = np.array([*numbers, *(x for x in cells if isinstance(x, float))], np.float64)
    known = known[np.isfinite(known)]
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
