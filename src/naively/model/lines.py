"""The lines of an explanation: what each column and each word of a row says."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from naively.counting.axis import Axis, Levels, Name, Words, title, title_of_pair
from naively.data.rows import Rows
from naively.kernels.reference import Floats
from naively.kernels.tokens import character_ngrams, splitter
from naively.likelihoods.base import ABSENT, Contributions
from naively.schema.derived import Interaction, Missing

FEW_WORDS = 16  # in a token; of more, a character n-gram that is in none of them is not theirs

Item: TypeAlias = "tuple[str, object, Floats]"  # column, value, log likelihoods (classes,)


class Ngram(str):
    """A character n-gram of a text whose words are counted too, and the words that it is in."""

    __slots__ = ("words",)

    words: tuple[str, ...]


class Lines:
    """The lines of the explanations of several rows, as they are found.

    What is said of a number or a level more than once in a row is one line, and so is what is said
    of the same two columns.

    Parameters
    ----------
    first : list of Item
        The first lines of each row.
    rows : int
        How many rows there are.
    cells : callable
        Returns what is shown of a column in each row: nothing of several columns that are one
        event.
    """

    def __init__(
        self, first: list[Item], rows: int, cells: Callable[[Name], Sequence[object]]
    ) -> None:
        self.items: list[list[Item]] = [[*first] for _ in range(rows)]
        self._cells = cells
        self._place: list[dict[Hashable, int]] = [{} for _ in range(rows)]

    def add(
        self,
        found: Contributions,
        axis: Axis,
        words_of: list[dict[str, tuple[str, ...]]] | None = None,
    ) -> None:
        """Add the log likelihoods of a block.

        Of character n-grams, ``words_of`` says for each text which words they are in.
        """
        for row, column, item, value in zip(
            found.row.tolist(), found.column.tolist(), found.item.tolist(), found.value, strict=True
        ):
            name = None if column == ABSENT else axis.columns[column]
            key: Hashable = name
            if item == ABSENT:
                shown: object = "(all that is absent)"
                key = ABSENT
            elif item < ABSENT:
                known = axis.label(ABSENT - 1 - item)[1]
                shown = 0 if known is None else f"(no {known})"
            elif isinstance(axis, Words):
                shown = axis.label(item)[1]
                if words_of is not None:
                    shown = Ngram(shown)
                    shown.words = words_of[row].get(shown, ())
            else:
                of_column = self._cells(axis.columns[column])
                if of_column:
                    shown = of_column[row]
                elif isinstance(axis, Levels) and item < len(axis.levels[column]):
                    shown = axis.levels[column][item]  # of several columns as one
                else:
                    shown = "(never seen)"
            line = "columns" if name is None else title(name), shown, value
            if isinstance(axis, Words):
                self.items[row].append(line)
            else:
                self._put(row, _pair(name.sources) if isinstance(name, Interaction) else key, line)

    def add_missing(self, found: Contributions, axis: Axis) -> None:
        """Add what it says that cells are missing, and that others are there.

        That a cell is there joins the line of its column, or that of all absent columns if the
        cell is a 0 that is not stored. A text has no such line.
        """
        for row, column, item, value in zip(
            found.row.tolist(), found.column.tolist(), found.item.tolist(), found.value, strict=True
        ):
            name = axis.columns[column]
            assert isinstance(name, Missing)
            if item:
                self.items[row].append((str(name), None, value))
            else:
                place = self._place[row]
                key = ABSENT if ABSENT in place and name.of not in place else name.of
                self._put(row, key, (f"{title(name.of)} is present", None, value))

    def add_products(self, found: Iterable[tuple[tuple[Name, Name], Floats]]) -> None:
        """Add what products of two columns say, (rows, classes), where both cells are there."""
        for pair, added in found:
            a, b = map(self._cells, pair)
            for row in np.flatnonzero(added.any(axis=1)).tolist():
                line = title_of_pair(pair), (a[row], b[row]), added[row]
                self._put(row, _pair(pair), line)

    def _put(self, row: int, key: Hashable, line: Item) -> None:
        """Add a line to a row, or its log likelihoods to those of the line of the same key."""
        items, place = self.items[row], self._place[row]
        if key in place:
            column, shown, value = items[place[key]]
            items[place[key]] = column, shown, value + line[2]
        else:
            place[key] = len(items)
            items.append(line)


def _pair(columns: Iterable[Name]) -> Hashable:
    """Return what the line of two columns is known by, in whichever order they are."""
    return frozenset(columns)


def words_of_ngrams(axis: Words, rows: Rows) -> list[dict[str, tuple[str, ...]]]:
    """Return the words that each character n-gram of each text is in, a mapping for each text."""
    options = {key: value for key, value in axis.analyser.splitting.items() if key != "features"}
    lower, of_character_ngrams = options["lowercase"], splitter(**options)
    of_words = splitter("word", (1, 1), lower, ())
    found = []
    for text in axis.analyser.rows(rows.values(axis.columns[0]).tolist()):
        words: dict[str, dict[str, None]] = {}
        for token in text.split() if isinstance(text, str) else ():
            inner = of_words(token) or [token.lower() if lower else token]
            holders = _holders(inner, options["ngram_range"][1])
            beside = inner if len(inner) <= FEW_WORDS else ()
            for ngram in dict.fromkeys(of_character_ngrams(token)):
                near = holders.get(ngram.strip(), beside)
                words.setdefault(ngram, {}).update(dict.fromkeys(near))
        found.append({ngram: tuple(of) for ngram, of in words.items()})
    return found


def _holders(words: list[str], longest: int) -> dict[str, dict[str, None]]:
    """Return the words that each character n-gram is in, of n up to the longest."""
    found: dict[str, dict[str, None]] = {}
    for word in dict.fromkeys(words):
        for ngram in character_ngrams(word, 1, longest):
            found.setdefault(ngram, {})[word] = None
    return found
