"""The inputs of an ONNX graph: which there are, what they are called, and rows as their tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.labels import is_missing
from naively.data.columns import Cells, as_floats
from naively.data.rows import Rows
from naively.kernels.strings import Strings
from naively.kernels.tokens import Row, splitter
from naively.model.scorecard.scorecard import Scorecard
from naively.model.scorecard.terms import (
    Cell,
    Chosen,
    IsLevel,
    Levels,
    Pair,
    Plain,
    Product,
    Term,
    Tokens,
    cells_of,
)

NUMBERS = ("number", "boolean", "time")
OUTPUTS = ("label", "probabilities")
What = Literal["number", "string", "tokens", "missing"]
Key = tuple[str, What, str, int | None]


@dataclass(frozen=True)
class Input:
    """An input of a graph.

    Parameters
    ----------
    name : str
        Its name in the graph, of letters, digits and underscores of ASCII.
    column : str
        The column of the table.
    what : {"number", "string", "tokens", "missing"}
        Which tensor it is: doubles (n, 1), strings (n, 1), strings (n, m) or truths (n, 1).
    split : mapping, optional
        How tokens are split, as the keyword arguments of `Text`.
    longest : int, optional
        A text that has more characters is as missing here.
    optional : bool
        Whether it may be left out: then no cell is missing.
    """

    name: str
    column: str
    what: What
    split: Plain = None
    longest: int | None = None
    optional: bool = False

    def to_dict(self) -> dict[str, Plain]:
        """Return what the metadata of the graph say of it."""
        said = {"split": self.split, "longest": self.longest}
        some = {name: of for name, of in said.items() if of is not None}
        plain = {"name": self.name, "column": self.column, "what": self.what}
        return {**plain, **some, "optional": self.optional}


def inputs_of(card: Scorecard) -> dict[Key, Input]:
    """Return the inputs that the terms of a scorecard read, in the order of the columns.

    Raises
    ------
    ValueError
        If no column is read.
    """
    needed: dict[str, dict[Key, Input]] = {name: {} for name in card.columns}
    for term in card.terms:
        for each in _read(term):
            key = key_of(each.column, each.what, each.split, each.longest)
            needed[each.column].setdefault(key, each)
    if not needed:
        raise ValueError("The model reads no column, so that there is nothing to score by ONNX.")
    taken: set[str] = {*OUTPUTS}
    found: dict[Key, Input] = {}
    for of_column in needed.values():
        alone = len(of_column) == 1
        for key, each in of_column.items():
            name = _unique(each, taken)
            optional = each.what == "missing" and not alone
            found[key] = Input(name, each.column, each.what, each.split, each.longest, optional)
    return found


def key_of(column: str, what: What, split: Plain = None, longest: int | None = None) -> Key:
    """Return what an input is known by."""
    return column, what, "" if split is None else repr(sorted(split.items())), longest


def _read(term: Term) -> Iterator[Input]:
    """Yield what a term reads."""
    if isinstance(term, Tokens):
        column = term.cell.column
        yield Input("", column, "tokens", dict(term.split), term.longest)
        if term.there.any():
            yield Input("", column, "missing", longest=term.longest)
        return
    of_levels = _by_level(term)
    for cell in cells_of(term):
        if cell.kind in NUMBERS:
            yield Input("", cell.column, "number")
            continue
        if cell in of_levels:
            yield Input("", cell.column, "string")
        yield Input("", cell.column, "missing")


def _by_level(term: Term) -> list[Cell]:
    """Return the cells of which a term reads the level, rather than whether they are there."""
    of = (term.a, term.b) if isinstance(term, Pair | Product) else (term,)
    return [each.cell for each in of if isinstance(each, Levels | Chosen | IsLevel)]


def _unique(of: Input, taken: set[str]) -> str:
    """Return a name of ASCII letters, digits and underscores that is not taken, and take it."""
    clean = re.sub(r"\W", "_", of.column, flags=re.ASCII) or "column"
    clean = f"_{clean}" if clean[0].isdigit() else clean
    if of.what == "missing":
        clean += "_missing" if of.longest is None else "_passed_over"
    elif of.what == "tokens":
        low, high = of.split["ngram_range"]
        clean += f"_{of.split['analyzer']}_{low}_{high}"
    name, i = clean, 1
    while name in taken:
        i += 1
        name = f"{clean}_{i}"
    taken.add(name)
    return name


def tensors_of(inputs: Sequence[Input], rows: Rows) -> dict[str, NDArray[Any]]:
    """Return rows, matched with the schema, as the tensors of the inputs, by name."""
    place = {title(name): name for name in rows.names}
    found: dict[str, NDArray[Any]] = {}
    read: dict[str, list[Any]] = {}
    for of in inputs:
        cells = rows.cells(place[of.column])
        if of.what == "number":
            found[of.name] = np.asarray(as_floats(cells), np.float64)[:, None]
            continue
        if of.column not in read:
            read[of.column] = _values(cells)
        values = read[of.column]
        if of.what == "missing":
            there = [value is not None and _is_looked_at(value, of.longest) for value in values]
            found[of.name] = ~np.array(there, bool)[:, None]
        elif of.what == "string":
            known = [value if isinstance(value, str) else "" for value in values]
            found[of.name] = np.array(known, object)[:, None]
        else:
            found[of.name] = _tokens(of, values)
    return found


def _values(cells: Cells) -> list[Any]:
    """Return strings, or lists of words; None where a cell is missing."""
    if isinstance(cells, Strings):
        return list(cells)
    words = (list, tuple, np.ndarray)
    objects = np.asarray(cells, object).tolist()
    return [of if isinstance(of, words) or not is_missing(of) else None for of in objects]


def _is_looked_at(text: object, longest: int | None) -> bool:
    return longest is None or (isinstance(text, str) and len(text) <= longest)


def _tokens(of: Input, texts: Sequence[Row]) -> NDArray[Any]:
    """Return the tokens of texts as an array of strings, padded with the empty string."""
    split = splitter(**{**of.split, "ngram_range": tuple(of.split["ngram_range"])})
    joined = of.split["analyzer"] != "word"
    split_texts = []
    for text in texts:
        looked_at = text if _is_looked_at(text, of.longest) else None
        if joined and isinstance(looked_at, list | tuple):
            looked_at = " ".join(map(str, looked_at))
        split_texts.append([] if looked_at is None else split(looked_at))
    wide = max(map(len, split_texts), default=0)
    array = np.full((len(split_texts), max(wide, 1)), "", object)
    for row, tokens in zip(array, split_texts, strict=True):
        row[: len(tokens)] = tokens
    return array
