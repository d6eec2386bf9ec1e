"""Texts as blocks: they are split into words before they are counted or scored, each text once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import Block, BlockKey, Dense, Entries, Sparse, ones
from naively.kernels import dispatch
from naively.kernels.strings import Strings
from naively.kernels.tokens import Row


@dataclass(frozen=True, eq=False)
class Documents(Block):
    """Texts as they are (None is missing), which are split before they are counted or scored.

    ``Analyser.rows`` made them, so that some may be lists of words, and all together may be
    `Strings`. With ``presence`` a word counts at most once in a text. ``found`` is how often each
    text holds each word, where they have been split already.
    """

    texts: Sequence[Row]
    axis: Words
    presence: bool = False
    found: Sparse | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def split(self, axis: Words | None = None) -> Sparse:
        """Return how often each text holds each word of ``axis``, by default of the block's."""
        if axis is not None and self.found is not None:
            return self.found.by_words(axis)
        on = self if axis is None else replace(self, axis=axis)
        return _split([on], grow=False)[0]

    def grown(self) -> Sparse:
        """Return how often each text holds each word, all of which its axis has then."""
        if self.found is not None:
            return self.found.once() if self.presence else self.found
        return _split([self], grow=self.axis.grows)[0]

    def entries(self) -> Entries:
        return self.split().entries()

    def select(self, rows: NDArray[np.int64]) -> Documents:
        found = None if self.found is None else self.found.select(rows)
        if isinstance(self.texts, Strings):  # the bytes of other rows are not kept
            return replace(self, texts=dispatch.take_strings(self.texts, rows), found=found)
        return replace(self, texts=[self.texts[row] for row in rows.tolist()], found=found)

    def followed_by(self, others: Sequence[Documents]) -> Documents:
        every = [self.texts, *(other.texts for other in others)]
        strings = [texts for texts in every if isinstance(texts, Strings)]
        if len(strings) == len(every):
            return replace(self, texts=Strings.join(strings), found=None)
        texts = [text for texts in every for text in texts]
        return replace(self, texts=texts, found=None)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
        return self.split().lengths

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which texts are missing, of shape (rows,)."""
        if isinstance(self.texts, Strings) and self.texts.missing is not None:
            return self.texts.missing
        if isinstance(self.texts, Strings) or None not in self.texts:  # the cheap question first
            return np.zeros(len(self.texts), np.bool_)
        return np.fromiter((text is None for text in self.texts), np.bool_, len(self.texts))

    @property
    def size(self) -> int:
        """About how many characters the texts have."""
        if isinstance(self.texts, Strings):
            return int(self.texts.offsets[-1] - self.texts.offsets[0])
        of_word = 8  # about
        return sum(
            len(text) if isinstance(text, str) else of_word * len(text)
            for text in self.texts
            if text is not None
        )


def select_blocks(
    blocks: Mapping[BlockKey, Block], rows: NDArray[np.int64]
) -> dict[BlockKey, Block]:
    """Return some rows of blocks, (selected,); what reads the same texts does so still."""
    taken: dict[int, Sequence[Row]] = {}
    found: dict[BlockKey, Block] = {}
    for key, block in blocks.items():
        if isinstance(block, Documents) and isinstance(block.texts, Strings):
            if id(block.texts) not in taken:
                taken[id(block.texts)] = dispatch.take_strings(block.texts, rows)
            words = None if block.found is None else block.found.select(rows)
            found[key] = replace(block, texts=taken[id(block.texts)], found=words)
        else:
            found[key] = block.select(rows)
    return found


def split_texts(blocks: Mapping[BlockKey, Block], *, grow: bool = False) -> dict[BlockKey, Block]:
    """Return blocks of which each text is the counts of its words; each text is read once.

    Parameters
    ----------
    blocks : mapping of hashable to Block
        Blocks of the same rows.
    grow : bool, default False
        Whether words that the axes lack become known: the axes of the result have them then.

    Examples
    --------
    >>> from naively import Text
    >>> analyser = Text()
    >>> axis = Words(("note",), analyser.new_vocabulary(), analyser)
    >>> words = split_texts({"words": Documents(["to be", "to go"], axis)}, grow=True)["words"]
    >>> words.axis.words, words.indptr
    (['to', 'be', 'go'], array([0, 2, 4]))
    """
    found = dict(blocks)
    together: dict[tuple[object, ...], list[BlockKey]] = {}
    for key, block in blocks.items():
        if isinstance(block, Documents) and block.found is not None and grow:
            found[key] = block.grown()
        elif isinstance(block, Documents):
            of = grow and block.axis.grows, *_source(block)
            together.setdefault(of, []).append(key)
    for of, keys in together.items():
        texts = [block for key in keys if isinstance(block := blocks[key], Documents)]
        found |= dict(zip(keys, _split(texts, grow=bool(of[0])), strict=True))
    return found


def _source(block: Documents) -> tuple[object, ...]:
    """Return what is the same for blocks whose texts can be read together."""
    texts = block.texts
    if not isinstance(texts, Strings):
        return (id(block),)
    lowercase = block.axis.analyser.splitting.get("lowercase", True)
    return id(texts.offsets), id(texts.utf8), lowercase


def _split(blocks: Sequence[Documents], *, grow: bool) -> list[Sparse]:
    """Return texts of one source as the counts of their words."""
    axes = [block.axis for block in blocks]
    if grow:
        axes = [axis.grown(axis.vocabulary.copy()) for axis in axes]
    texts = blocks[0].texts
    passed_over: list[NDArray[np.bool_] | None] = [None for _ in blocks]
    if len(blocks) > 1:
        assert isinstance(texts, Strings)
        passed_over = [block.missing for block in blocks]
        texts = Strings(texts.offsets, texts.utf8)
    encoded = dispatch.encode_together(
        [axis.vocabulary for axis in axes],
        texts,
        [block.presence for block in blocks],
        passed_over,
        grow,
    )
    found = []
    for block, axis, (indptr, word, count) in zip(blocks, axes, encoded, strict=True):
        once = ones(len(word)) if count is None else count
        found.append(Sparse(indptr, word, once, axis, block.missing, block.presence))
    return found


Counts: TypeAlias = Dense | Sparse | Documents
