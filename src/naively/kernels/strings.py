"""Strings as Arrow has them become codes; texts among them become the rows of a table.

Strings as Arrow lays them out, made codes without a Python object for each.

The functions here are contract, oracle and fallback of the native kernels of the same names, as
those in ``naively.kernels.reference`` are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from naively.kernels.native import choose

Unit: TypeAlias = Literal["word", "char", "char_wb"]
Row: TypeAlias = "str | Sequence[str] | None"  # a text, its tokens, or a missing text
Split: TypeAlias = Callable[[Row], list[str]]

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Index = NDArray[np.int64]
Codes = NDArray[np.int32]

MISSING = -1  # the code of a missing string
FIRST = 1_000, 10_000  # strings by which it is told whether they repeat: those that differ
REPEATED = 0.25  # are no greater share of them
DIFFERENT = 0.75  # or so many differ that no more are looked at
INLINE = 12  # bytes that a string view holds itself
CHARACTERS = re.compile(  # of UTF-8, as many as there are; or one byte that begins none
    rb"((?:[\x00-\x7F]|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]"
    rb"|[\xE1-\xEF][\x80-\xBF]{2}|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}"
    rb"|\xF4[\x80-\x8F][\x80-\xBF]{2})+)|.",
    re.DOTALL,
)


if TYPE_CHECKING:
    OfStrings = Sequence["str | None"]
else:
    OfStrings = object  # of an abstract class, to ask "is it one?" is a call in Python


class Strings(OfStrings):
    """A column of strings: their UTF-8, joined, and where each begins; or codes of a few levels.

    It is a sequence of str and None, which are made only when they are asked for, as the joined
    UTF-8 is of a column that came as codes (`of_levels`), and of a few str (`of_few`). Strings are
    taken as they are given; the functions of this file raise a ValueError if the offsets descend,
    or leave the bytes.
    """

    def __init__(
        self,
        offsets: Index,
        utf8: Bytes,
        missing: Flags | None = None,
        *,
        categorical: bool = False,
    ) -> None:
        self.missing = missing
        self.categorical = categorical
        self.offsets, self.utf8 = offsets, utf8
        self.few: list[str | None] | None = None  # what `of_few` was given
        self.coded: tuple[Codes, Strings] | None = None  # what `of_levels` was given
        self.numbered: tuple[Codes, Index] | None = None  # `encoded`, once it has been asked for

    @classmethod
    def of_few(cls, cells: list[str | None]) -> Strings:
        """Return str and None as they are: of one row none need be encoded, only to be decoded."""
        strings = cls.__new__(cls)
        gaps = None in cells
        strings.missing = np.array([cell is None for cell in cells]) if gaps else None
        strings.categorical = False
        strings.coded = strings.numbered = None
        strings.few = cells
        return strings

    @classmethod
    def of_levels(
        cls,
        codes: NDArray[np.integer],  # (rows,)
        levels: Strings,  # one may be there twice, be missing, or have no code
        # (levels,): the row of the first of each, if all differ and are in order of first sight
        first: Index | None = None,
        *,
        categorical: bool = False,
    ) -> Strings:
        """Return strings by their codes among levels; -1 is a missing string."""
        least = int(codes.min(initial=0))
        if least < MISSING or codes.max(initial=MISSING) >= len(levels):
            raise ValueError(f"there are codes that are not of {len(levels)} levels")
        own: Codes = codes.astype(np.int32, copy=False)
        if levels.missing is not None and levels.missing.any():
            own = np.where(np.append(levels.missing, True)[own], np.int32(MISSING), own)
            least = MISSING
        strings = cls.__new__(cls)
        strings.missing = own < 0 if least < 0 else None
        strings.categorical = categorical
        strings.few = None
        strings.coded = own, levels
        strings.numbered = None if first is None else (own, first)
        return strings

    @classmethod
    def all_missing(cls, n: int) -> Strings:
        """Return n strings, all of them missing."""
        return cls(np.zeros(n + 1, np.int64), np.empty(0, np.uint8), np.ones(n, np.bool_))

    @cached_property
    def offsets(self) -> Index:
        """Where each string begins in ``utf8``, and where the last one ends."""
        return self._joined.offsets

    @cached_property
    def utf8(self) -> Bytes:
        """The strings, joined."""
        return self._joined.utf8

    @cached_property
    def _joined(self) -> Strings:
        """The same strings, of a few or of codes, as their bytes."""
        if self.few is None:
            assert self.coded is not None
            codes, levels = self.coded
            return _take(levels, codes)
        packed = _pack(self.few)
        assert packed is not None
        return packed

    @property
    def lengths(self) -> Index:
        """How many bytes each string has, of shape (rows,)."""
        if self.coded is None:
            return np.diff(self.offsets)
        codes, levels = self.coded
        return np.append(levels.lengths, 0)[codes]

    @property
    def encoded(self) -> tuple[Codes, Index]:
        """What `encode_strings` says of them; found once, as they are read and counted by it."""
        if self.numbered is None:
            if self.coded is None:
                self.numbered = _encode(self)
            else:
                codes, levels = self.coded
                numbers, first = levels.encoded
                self.numbered = _in_order(np.append(numbers, np.int32(MISSING))[codes], len(first))
        return self.numbered

    @property
    def repeat(self) -> bool:
        """Whether few strings differ, by the first ones, or by more where these do not tell."""
        for first in FIRST:
            rows = min(len(self), first)
            some = self if rows == len(self) else self[:rows]
            share = len(some.encoded[1]) / max(1, rows)
            if not REPEATED < share < DIFFERENT or rows < first:
                break
        return share <= REPEATED

    @property
    def different(self) -> Strings:
        """The different strings, in order of first sight."""
        return self.take(self.encoded[1])

    def take(self, rows: NDArray[np.integer]) -> Strings:
        """Return the strings of these rows, of shape (rows,); -1 is a missing string."""
        if self.coded is None:
            taken = _take(self, rows)
            taken.categorical = self.categorical
            return taken
        if len(rows) and not (rows.min() >= MISSING and rows.max() < len(self)):
            raise ValueError(f"there are rows that are not among {len(self)}")
        codes, levels = self.coded
        none = np.int32(MISSING)
        some = np.append(codes, none)[rows] if (rows < 0).any() else codes[rows]
        return Strings.of_levels(some, levels, categorical=self.categorical)

    def without(self, missing: Flags) -> Strings:
        """Return the strings without those of some rows, whose ``missing``, (rows,), is true."""
        if self.coded is None:
            own = missing if self.missing is None else self.missing | missing
            return Strings(self.offsets, self.utf8, own, categorical=self.categorical)
        codes, levels = self.coded
        rest = np.where(missing, np.int32(MISSING), codes)
        return Strings.of_levels(rest, levels, categorical=self.categorical)

    def __len__(self) -> int:
        if self.few is not None:
            return len(self.few)
        return len(self.offsets) - 1 if self.coded is None else len(self.coded[0])

    @property
    def any_there(self) -> bool:
        """Whether any string is not missing."""
        return len(self) > 0 and (self.missing is None or not self.missing.all())

    @overload
    def __getitem__(self, row: int) -> str | None: ...
    @overload
    def __getitem__(self, row: slice | list[int] | NDArray[np.generic]) -> Strings: ...
    def __getitem__(self, row: int | slice | list[int] | NDArray[Any]) -> str | Strings | None:
        if isinstance(row, list | np.ndarray):  # places, or a mask of shape (rows,)
            return self.take(np.arange(len(self))[row])
        if isinstance(row, slice):
            start, stop, step = row.indices(len(self))
            if self.coded is not None:
                codes, levels = self.coded
                return Strings.of_levels(codes[row], levels, categorical=self.categorical)
            if step != 1:
                return self.take(np.arange(len(self))[row])
            missing = None if self.missing is None else self.missing[start:stop]
            offsets = self.offsets[start : max(start, stop) + 1]
            return Strings(offsets, self.utf8, missing, categorical=self.categorical)
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {row} among {len(self)}")
        row %= len(self)
        if self.missing is not None and self.missing[row]:
            return None
        if self.coded is not None:
            codes, levels = self.coded
            return levels[int(codes[row])]
        begin, end = self.offsets[row : row + 2].tolist()
        return self.utf8[begin:end].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str | None]:
        if self.few is not None:
            yield from self.few
            return
        for piece in _pieces(self):
            yield None if piece is None else piece.decode("utf-8", "surrogatepass")

    def __repr__(self) -> str:
        return f"Strings({np.array2string(np.array([*self, None], object)[:-1], separator=', ')})"

    @classmethod
    def join(cls, parts: Sequence[Strings]) -> Strings:
        """Return the strings of all parts, one after another; there is at least one part."""
        categorical = any(part.categorical for part in parts)
        coded = [part.coded for part in parts if part.coded is not None]
        if len(coded) == len(parts):
            levels = cls.join([of for _, of in coded])
            start = np.cumsum([0, *(len(of) for _, of in coded[:-1])])
            codes = [of + np.where(of < 0, 0, at) for (of, _), at in zip(coded, start, strict=True)]
            return cls.of_levels(np.concatenate(codes), levels, categorical=categorical)
        offsets, utf8, end = [np.zeros(1, np.int64)], [], 0
        for part in parts:
            first, last = part.offsets[[0, -1]].tolist()
            offsets.append(part.offsets[1:] + (end - first))
            utf8.append(part.utf8[first:last])
            end += last - first
        missing = None
        if any(part.missing is not None for part in parts):
            missing = np.concatenate(
                [np.zeros(len(p), np.bool_) if p.missing is None else p.missing for p in parts]
            )
        return cls(np.concatenate(offsets), np.concatenate(utf8), missing, categorical=categorical)

    def __reduce__(self) -> tuple[Any, ...]:
        alone = Strings.join([self])  # a slice without the bytes of other rows
        made = partial(Strings, categorical=True) if self.categorical else Strings
        return made, (alone.offsets, alone.utf8, alone.missing)


Sequence.register(Strings)


def pack_strings(cells: Sequence[Any] | NDArray[np.object_]) -> Strings | None:
    """Return str as Strings, None and NaN as missing; None if a cell is anything else."""
    encoded, missing = [], np.zeros(len(cells), np.bool_)
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            encoded.append(cell.encode("utf-8", "surrogatepass"))
        elif cell is None or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124
            encoded.append(b"")
            missing[row] = True
        else:
            return None
    return _joined(encoded, missing if missing.any() else None)


def pack_views(views: Bytes, buffers: Sequence[Bytes], missing: Flags | None = None) -> Strings:
    """Return the strings of Arrow's string views, (rows, 16), or raise a ValueError."""
    # A view is the length in bytes (int32), then the bytes if they are 12 at most, and else the
    # first four of them, the number of a buffer and the place there (int32).
    whole = np.ascontiguousarray(views).view(np.int32)
    encoded = []
    for row, (length, _, buffer, offset) in enumerate(whole.tolist()):
        if missing is not None and missing[row]:
            encoded.append(b"")
        elif 0 <= length <= INLINE:
            encoded.append(views[row, 4 : 4 + length].tobytes())
        else:
            within = length >= 0 and 0 <= buffer < len(buffers) and offset >= 0
            if not within or offset + length > len(buffers[buffer]):
                raise ValueError(f"string view {row} is of bytes that are not there")
            encoded.append(buffers[buffer][offset : offset + length].tobytes())
    return _joined(encoded, missing)


def _in_order(codes: Codes, levels: int) -> tuple[Codes, Index]:
    """Return numbers of so many levels in order of first sight, and the row of each one's first."""
    first = np.full(levels + 1, len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes the last one written stays
    seen = np.argsort(first[:-1])[: np.count_nonzero(first[:-1] < len(codes))]
    place = np.full(levels + 1, MISSING, np.int32)
    place[seen] = np.arange(len(seen), dtype=np.int32)
    return place[codes], first[seen]


def take_strings(strings: Strings, rows: NDArray[np.integer]) -> Strings:
    """Return the strings of these rows, of shape (rows,); -1 is a missing string."""
    if len(rows) and not (rows.min() >= MISSING and rows.max() < len(strings)):
        raise ValueError(f"there are rows that are not among {len(strings)}")
    check_offsets(strings)
    missing = rows < 0
    begin = np.append(strings.offsets, 0)[rows]  # row -1 is the last
    length = np.append(np.diff(strings.offsets), 0)[rows]
    offsets = np.append(0, np.cumsum(length))
    place = np.repeat(begin - offsets[:-1], length) + np.arange(offsets[-1])
    if strings.missing is not None:
        missing |= np.append(strings.missing, True)[rows]
    return Strings(offsets, strings.utf8[place], missing if missing.any() else None)


def encode_strings(strings: Strings) -> tuple[Codes, Index]:
    """Give different strings numbers, in order of first sight, -1 where one is missing."""
    # They are of shape (rows,); beside them is the row of the first of each, (different strings,).
    check_offsets(strings)
    codes: list[int] = []
    first: list[int] = []
    index: dict[bytes, int] = {}
    for row, piece in enumerate(_pieces(strings)):
        code = MISSING if piece is None else index.setdefault(piece, len(index))
        if code == len(first):
            first.append(row)
        codes.append(code)
    return np.array(codes, np.int32), np.array(first, np.int64)


def encode_views(
    views: Bytes, buffers: Sequence[Bytes], missing: Flags | None = None
) -> tuple[Codes, Index]:
    """Give the different strings of Arrow's string views numbers, as `encode_strings` does."""
    # The parameters, and what is an error, are those of `pack_views`.
    return encode_strings(pack_views(views, buffers, missing))


def repair_utf8(strings: Strings) -> tuple[Strings, int]:
    """Return strings of valid UTF-8, and how many bytes were replaced by U+FFFD, each by one."""
    # Half a surrogate pair is valid, as Python's str has it. Missing strings become empty. If
    # nothing is to be replaced, the strings are returned themselves.
    check_offsets(strings)
    encoded, count = [], 0
    for piece in _pieces(strings):
        runs = [found[1] for found in CHARACTERS.finditer(piece or b"")]
        encoded.append(b"".join("\ufffd".encode() if run is None else run for run in runs))
        count += runs.count(None)
    return (_joined(encoded, strings.missing), count) if count else (strings, 0)


def check_offsets(strings: Strings) -> None:
    """Raise a ValueError unless strings lie within their bytes, and flags are of each."""
    offsets = strings.offsets
    ascending = len(offsets) > 0 and offsets[0] >= 0 and (offsets[1:] >= offsets[:-1]).all()
    if not ascending or offsets[-1] > len(strings.utf8):
        raise ValueError("the offsets of strings must ascend within their bytes")
    if strings.missing is not None and len(strings.missing) != len(strings):
        raise ValueError("the shape of missing is wrong")


def _pieces(strings: Strings) -> Iterator[bytes | None]:
    """Return the bytes of each string; None where it is missing."""
    ends = strings.offsets.tolist()
    data = strings.utf8[ends[0] : ends[-1]].tobytes()
    missing = [False] * len(strings) if strings.missing is None else strings.missing.tolist()
    for row, absent in enumerate(missing):
        yield None if absent else data[ends[row] - ends[0] : ends[row + 1] - ends[0]]


def _joined(encoded: list[bytes], missing: Flags | None) -> Strings:
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    utf8 = np.frombuffer(b"".join(encoded), np.uint8)
    return Strings(np.append(0, np.cumsum(lengths)), utf8, missing)


_pack, _take, _encode = choose(pack_strings), choose(take_strings), choose(encode_strings)


# --- Strings as texts: checked, and made a list --------------------------------------------------


def check_texts(strings: Strings) -> None:
    """Raise a ValueError unless the arrays are those of texts."""
    offsets, utf8, missing = strings.offsets, strings.utf8, strings.missing
    if not _is_row_of(offsets, np.int64) or not _is_row_of(utf8, np.uint8):
        raise ValueError("offsets of texts must be int64 and their bytes uint8, in one dimension")
    if len(offsets) == 0:
        raise ValueError("offsets must have at least one element")
    if missing is not None:
        if not _is_row_of(missing, np.bool_):
            raise ValueError("missing must be bool, in one dimension")
        if len(missing) != len(offsets) - 1:
            texts = len(offsets) - 1
            raise ValueError(f"{len(missing)} flags of what is missing for {texts} texts")
    if len(offsets) == 1:
        return  # where no text begins does not matter
    # No difference is taken, as it could overflow.
    if offsets[0] < 0 or offsets[-1] > len(utf8) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets must ascend within the bytes of the texts")


def unpack_texts(strings: Strings) -> list[str | None]:
    """Return texts as a list; arrays that are not those of texts are a ValueError."""
    check_texts(strings)
    texts: list[str | None] = []
    try:
        for text in strings:
            texts.append(text)  # noqa: PERF402  (so that the number of the broken one is known)
    except UnicodeDecodeError as error:
        raise ValueError(f"text {len(texts)} is not UTF-8") from error
    return texts


def _is_row_of(array: object, dtype: type[np.generic]) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == dtype
