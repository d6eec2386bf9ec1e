"""Formulas as drawings that are part of the page: no script, no font and no network to read them.

Sphinx's own renderers load a script while the page is read (MathJax) or run TeX (imgmath).
``ziamath`` is plain Python, and draws the shapes of the letters.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import ziafont
import ziamath
from docutils import nodes

SIZE = 17  # of the letters, in pixels, beside text of 16
ziamath.config.svg2 = False  # shapes are drawn where they are; identifiers would meet on a page
ziafont.config.precision = ziamath.config.precision = 2  # digits after the point of a pixel


# Where a line may be broken on a narrow screen: at a wide space, and before what follows from it.
BREAK = re.compile(r"\\qquad|\\quad(?=\\Longrightarrow)")


@cache
def draw(latex: str, *, inline: bool) -> str:
    """Return a formula as SVG in the colour of the text, on the line of the text."""
    formula = ziamath.Latex(latex, size=SIZE, color="currentColor", inline=inline)
    svg: str = formula.svg()
    label = html.escape(" ".join(latex.split()), quote=True)
    return svg.replace(
        "<svg ",
        f'<svg role="img" aria-label="{label}" style="vertical-align: {formula.getyofst():.1f}px" ',
        1,
    )


def parts(latex: str) -> list[str]:
    r"""Return what stands side by side where there is room, and else below each other.

    >>> parts(r"a = b, \qquad c = d \quad\Longrightarrow\quad e")
    ['a = b,', 'c = d', '\\\\Longrightarrow\\\\quad e']
    """
    found = [part.strip() for part in BREAK.split(latex)]
    whole = all(part.count("{") == part.count("}") and r"\left" not in part for part in found)
    return found if whole and r"\begin" not in latex else [latex]


def visit_math(self: Any, node: nodes.math) -> None:
    """Draw a formula within a sentence."""
    self.body.append(f'<span class="math">{draw(node.astext(), inline=True)}</span>')
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Draw a formula on a line of its own."""
    drawn = "\n".join(draw(part, inline=False) for part in parts(node.astext()))
    self.body.append(f'<div class="math">{drawn}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("ziamath", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
