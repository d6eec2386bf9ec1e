"""The bits of numbers in a query: cells of the grid, and parts that add up without rounding.

A cell is a prefix of a float's bits (see ``naively.kernels.reference``). A database that does not
show the bits finds the exponent among powers of two, and the rest follows by multiplying by one, which
rounds nothing.

A finite number is a sign, a whole number of 53 bits and a power of two. Numbers of one exponent
are added as whole numbers, in three parts of 18 bits, and so are their squares; the exact sum of
all is made of these here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from naively.engines.sql.dialect import Dialect

MANTISSA = 52  # bits
LOWEST = -1023  # the exponent of numbers that are less than normal
BIAS = 1022  # what is added to an exponent, as the mantissa brings 1
INFINITE = 0x7FF << MANTISSA
LIMB = 18  # bits of a part of a mantissa
LIMB_MASK = (1 << LIMB) - 1
SQUARE_BITS = 2 * LIMB + 2  # of a summand of a square

Range = tuple[float, float]  # of the sizes of a column's numbers other than 0


def bits_of(dialect: Dialect, x: str, sizes: Range | None) -> str:
    """Return the bits of a float64 of 0 or more as a whole number.

    Parameters
    ----------
    dialect : Dialect
        How the database spells it.
    x : str
        The number.
    sizes : pair of float, optional
        The least and the greatest number other than 0 that it may be; by default any.

    Examples
    --------
    >>> import sqlite3
    >>> from naively.engines.sql.dialect import SQLite
    >>> query = "SELECT " + bits_of(SQLite(), "1.5", (0.5, 4.0))
    >>> (bits,), = sqlite3.connect(":memory:").execute(query)
    >>> f"{bits:016x}"  # as (1.5).hex() has them
    '3ff8000000000000'
    """
    known = dialect.bits(x)
    if known is not None:
        return known
    low, high = sizes or (math.ulp(0.0), math.inf)
    exponents = range(_exponent(low), _exponent(min(high, _LARGEST)) + 1)
    infinite = f"WHEN {x} > {dialect.number(_LARGEST)} THEN {INFINITE} " if high > _LARGEST else ""
    return f"CASE WHEN {x} = 0 THEN 0 {infinite}ELSE {_tree(dialect, x, exponents)} END"


_LARGEST = math.ldexp(2.0 - 2.0**-52, 1023)


def cell_of(x: str, bits: str, shift: int) -> str:
    """Return the key of a float64's cell: its bits in the order of numbers, less the low ones.

    Parameters
    ----------
    x, bits : str
        The number, and the bits of its size.
    shift : int
        How many low bits the key has lost.
    """
    key = f"({bits} >> {shift})"
    return f"CASE WHEN {x} < 0 THEN -1 - {key} ELSE {key} END"


def parts_of_sums(bits: str) -> tuple[list[str], list[str]]:
    """Return the parts of a number, and of its square, that are added up; all are whole numbers.

    ``bits`` is a column: those of the number's size.
    """
    mask, one = (1 << MANTISSA) - 1, 1 << MANTISSA
    whole = f"({bits} & {mask}) + CASE WHEN {bits} >= {one} THEN {one} ELSE 0 END"
    a, b, c = (f"((({whole}) >> {i * LIMB}) & {LIMB_MASK})" for i in range(3))
    squares = [f"{a} * {a}", f"2 * {a} * {b}", f"2 * {a} * {c} + {b} * {b}"]
    return [a, b, c], [*squares, f"2 * {b} * {c}", f"{c} * {c}"]


def total(exponent: int, parts: Sequence[int], power: int) -> Fraction:
    """Return the sum that was added up in parts.

    Parameters
    ----------
    exponent : int
        The bits of the exponent that all numbers had.
    parts : sequence of int
        The sums of the parts of the numbers (three), or of their squares (five).
    power : int
        1, or 2 of squares.

    Examples
    --------
    >>> total(1023, [0, 0, 2**16], 1), total(1024, [0, 0, 0, 0, 2**32], 2)
    (Fraction(1, 1), Fraction(4, 1))
    """
    whole = sum(int(part) << (LIMB * i) for i, part in enumerate(parts))
    shift = power * (max(exponent, 1) - BIAS - 1 - MANTISSA)
    return Fraction(whole) * Fraction(2) ** shift


def _exponent(x: float) -> int:
    """Return e of a number of 2^e to 2^(e+1)."""
    return max(math.frexp(x)[1] - 1, LOWEST)


def _tree(dialect: Dialect, x: str, exponents: range) -> str:
    """Return the bits of a number above 0 whose exponent is one of these."""
    if len(exponents) > 1:
        half = len(exponents) // 2
        lower, upper = (_tree(dialect, x, of) for of in (exponents[:half], exponents[half:]))
        least = dialect.number(math.ldexp(1.0, exponents[half]))
        return f"CASE WHEN {x} < {least} THEN {lower} ELSE {upper} END"
    exponent = exponents[0]
    to_whole = MANTISSA - max(exponent, LOWEST + 1)
    factors = (
        [math.ldexp(1.0, to_whole)] if to_whole < 1024 else [2.0**1023, 2.0 ** (to_whole - 1023)]
    )
    scaled = " * ".join([x, *map(dialect.number, factors)])
    above = (exponent + BIAS) << MANTISSA if exponent > LOWEST else 0
    return f"{dialect.floor(scaled)} + {above}"
