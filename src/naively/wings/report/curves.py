"""Small pictures of the page: lines, bands and bars as SVG, whose colours are the page's own.

They are plain shapes of a fixed box, so that a page may hold dozens; text stays text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from naively.frozen import Frozen
from naively.inspect.odds import round_numbers
from naively.kernels.reference import Floats
from naively.wings.report.html import escaped

WIDTH, HEIGHT = 360, 210  # of the box; text is of 11
LEFT, RIGHT, TOP, BOTTOM = 48, 8, 8, 34
CHARACTER, ASLANT = 6.2, 66  # how wide a letter is; below the box, where words are aslant
APART = 30  # at least, of two numbers that are written below it
SKEW = 0.12  # of the range: numbers half of which are below it are shown on another scale


class Ruler(Frozen, eq=True):
    """Where numbers are on an axis: evenly, or closer the greater where most of them are small."""

    low: float  # what its ends are
    high: float
    begin: float  # where these are in the box
    end: float
    bend: float = math.inf  # above low, from where on they are closer; infinite of a straight one

    def __call__(self, x: ArrayLike) -> Floats:
        """Return where numbers are, at most at the ends."""
        of = np.clip(np.asarray(x, np.float64), self.low, self.high) - self.low
        whole = self.high - self.low or 1.0
        if math.isfinite(self.bend):
            of, whole = np.arcsinh(of / self.bend), math.asinh(whole / self.bend)
        return np.asarray(self.begin + (self.end - self.begin) * of / whole)

    @property
    def ticks(self) -> Floats:
        """Round numbers to be written, about five."""
        if not math.isfinite(self.bend):
            return round_numbers(self.low, self.high, n=5)
        found = [self.low]
        unit = 10.0 ** math.floor(math.log10(self.bend))
        while unit < self.high:
            for x in (unit, 3 * unit):
                is_inside = self.low + self.bend / 2 < x <= self.high
                if is_inside and np.ptp(self([found[-1], x])) > APART:
                    found.append(x)
            unit *= 10
        return np.array(found)


def scale_of(low: float, high: float, rows: Floats, edges: Floats) -> Ruler:
    """Return the scale of numbers across the box, bent where half of the rows are at its begin."""
    bend = math.inf
    if len(rows) and rows.sum() > 0:
        share = np.cumsum(rows) / rows.sum()
        middle = float(edges[1 + int(np.searchsorted(share, 0.5))]) - low
        if 0 < middle < SKEW * (high - low):
            bend = middle
    return Ruler(low, high, LEFT, WIDTH - RIGHT, bend)


def path(x: Floats, y: Floats) -> str:
    """Return a line through points."""
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def axes(
    across: Ruler, up: Ruler, labels: tuple[str, str], words: Sequence[tuple[float, str]] = ()
) -> str:
    """Return two axes with their numbers, or words, and names; long words are written aslant."""
    found = []
    for tick in up.ticks.tolist():
        y = float(up(tick))
        found.append(
            f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    base = HEIGHT - BOTTOM
    named = words or [(float(across(x)), f"{x:g}") for x in across.ticks.tolist()]
    slant = are_long(words)
    for x, name in named:
        at, how = x, 'text-anchor="middle"'
        if slant:
            at = x + 4
            how = f'text-anchor="end" transform="rotate(-30 {at:.1f} {base + 13})"'
        found.append(f'<text x="{at:.1f}" y="{base + 13}" {how}>{escaped(name)}</text>')
    lines = "".join(f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}" for y in (base, float(up(0.0))))
    found.append(f'<path class="axis" d="{lines}"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    if not slant:
        found.append(
            f'<text x="{middle}" y="{HEIGHT - 5}" text-anchor="middle">{escaped(labels[0])}</text>'
        )
    found.append(
        f'<text x="11" y="{base / 2}" text-anchor="middle" '
        f'transform="rotate(-90 11 {base / 2})">{escaped(labels[1])}</text>'
    )
    return "".join(found)


def are_long(words: Sequence[tuple[float, str]]) -> bool:
    """Whether words would touch each other beside each other."""
    longest = max((len(word) for _, word in words), default=0)
    return len(words) > 1 and longest * CHARACTER > (WIDTH - RIGHT - LEFT) / len(words)


def drawn(label: str, *shapes: str, slant: bool = False) -> str:
    """Return the picture; the label says what it shows to who cannot see it."""
    height = HEIGHT + (ASLANT - BOTTOM if slant else 0)
    return (
        f'<svg class="curve" role="img" aria-label="{escaped(label)}" '
        f'viewBox="0 0 {WIDTH} {height}">{"".join(shapes)}</svg>'
    )
