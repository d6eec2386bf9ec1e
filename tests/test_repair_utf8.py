"""UTF-8 that is repaired: native as the contract, and as Python decodes."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.test_kernels import native, needs_native
from tests.test_strings import CELLS, MODULES, check, of_bytes, strings_of, threads

__all__ = ["threads"]  # a fixture

PARTS = [b"ab", "é".encode(), "€".encode(), "🦜".encode(), b"\xed\xa0\x80", b"\xed\xa0"]
PARTS += [b"\xe2\x82", b"\xf0\x9f", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80"]
BROKEN = st.binary(max_size=40) | st.lists(st.sampled_from(PARTS), max_size=8).map(b"".join)


def one_by_one(error: UnicodeError) -> tuple[str, int]:
    """Decode half a surrogate pair, and replace any other byte."""
    assert isinstance(error, UnicodeDecodeError)
    try:
        half = error.object[error.start : error.start + 3].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "\ufffd", error.start + 1
    return half, error.start + 3


codecs.register_error("one by one", one_by_one)


@given(st.lists(st.none() | BROKEN, max_size=12))
@example([b"\xe2\x82", b"\xac"])  # a character in two strings
@example([None, b"\xed\xa0\x80", b"abcdefgh\xffabcdefgh\xed\xa0"])
def test_utf8_is_repaired_as_python_decodes(pieces: list[bytes | None]) -> None:
    expected = [None if p is None else p.decode("utf-8", "one by one") for p in pieces]
    repaired, count = check("repair_utf8", of_bytes(pieces))
    assert list(repaired) == expected
    there = [p for p in pieces if p is not None]
    had = sum(p.count("\ufffd".encode()) for p in there)
    assert count == sum(text.count("\ufffd") for text in expected if text is not None) - had


@given(CELLS)
def test_what_is_valid_is_not_copied(cells: list[str | None]) -> None:
    strings = strings_of(cells)
    for module in MODULES:
        same, count = module.repair_utf8(strings)
        assert same is strings
        assert count == 0


@pytest.mark.usefixtures("threads")
@needs_native
def test_long_latin_1_is_repaired() -> None:
    pieces = [b"\xe9t\xe9" * 40_000, b"", b"plain", b"x" * 50, b"\xff"] * 4
    repaired, count = native.repair_utf8(of_bytes(pieces))
    assert count == 4 * (2 * 40_000 + 1)
    assert list(repaired) == [p.decode("ascii", "replace") for p in pieces]
