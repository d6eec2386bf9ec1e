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
from naively.messages import shortened
from naively.wings.report.html import escaped

WIDTH, HEIGHT = 360, 210  # of the box; text is of 11
LEFT, RIGHT, TOP, BOTTOM = 54, 8, 8, 34
LONGEST = 50, 30  # characters of the names of the axes
APART = 42  # at least, of two numbers that are written below it
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


def drawn(
    what: str,  # the picture shows, for who cannot see it
    labels: tuple[str, str],
    across: Ruler,
    up: Ruler,
    *shapes: str,
    words: Sequence[tuple[float, str]] = (),  # in place of numbers
    beside: Sequence[tuple[float, str]] = (),
    base: float = HEIGHT - BOTTOM,
) -> str:
    """Return a picture: shapes on two axes with their names, and numbers or words along them."""
    found = [
        f'<path class="grid" d="M{across.begin} {y:.1f}H{across.end}"/>'
        f'<text x="{across.begin - 4}" y="{y + 4:.1f}" text-anchor="end">{escaped(name)}</text>'
        for y, name in beside or [(float(up(tick)), f"{tick:g}") for tick in up.ticks.tolist()]
    ]
    lines = "".join(f"M{across.begin} {y:.1f}H{across.end}" for y in (base, float(up(0.0))))
    below, left = (escaped(shortened(name, n)) for name, n in zip(labels, LONGEST, strict=True))
    middle, turned = (across.begin + across.end) / 2, f"rotate(-90 11 {base / 2})"
    texts = [
        f'x="{x:.1f}" y="{base + 13}">{escaped(name)}'
        for x, name in words or [(float(across(x)), f"{x:.4g}") for x in across.ticks.tolist()]
    ]
    texts.append(f'x="{middle}" y="{base + 29}">{below}')
    texts.append(f'x="11" y="{base / 2}" transform="{turned}">{left}')
    found += [f'<text text-anchor="middle" {text}</text>' for text in texts]
    return (
        f'<svg class="curve" role="img" aria-label="{escaped(what)}" '
        f'viewBox="0 0 {WIDTH} {base + BOTTOM}">{"".join(found)}<path class="axis" d="{lines}"/>'
        f"{''.join(shapes)}</svg>"
    )
