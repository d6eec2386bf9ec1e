"""The model as a graph: an arrow from the class to each column, as a Bayesian network has it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from naively.counting.axis import title
from naively.messages import shortened, visible
from naively.model.model import Model
from naively.tabular import Drawn

MOST = 8  # columns that are drawn; of more the first and the last, and dots between them
LONGEST = 14  # characters of a name in its ellipse
STYLE = (
    'font-family="sans-serif" font-size="13" text-anchor="middle" fill="currentColor" stroke="none"'
)
TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0 0L10 5L0 10z" fill="currentColor"/></marker></defs>'
)
STEP, DOWN, WIDE, HIGH = 118, 105, 54, 20  # of the picture, in pixels; the last two are radii


class NaiveGraph(Drawn):
    """The class, the columns, and the arrows between them: what is generated from what.

    Without weights the joint probability is the product over the nodes of each, given those that
    have an arrow to it (Pearl, Probabilistic Reasoning in Intelligent Systems, 1988).

    Parameters
    ----------
    label : str
        What the class is called.
    columns : tuple of str
        The columns, each a node; those of a joint table are one.
    together : tuple of tuple of str
        Columns that interactions look at together, beside the naive Bayes assumption.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes.textbook("bernoulli").fit({"wind": [1, 0], "rain": [0, 1]}, ["a", "b"])
    >>> nb.inspect.graph("play")
    play -> wind, rain
    p(play, wind, rain) = p(play) p(wind | play) p(rain | play)
    """

    label: str
    columns: tuple[str, ...]
    together: tuple[tuple[str, ...], ...] = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns from and to, one row an arrow."""
        return {"from": [self.label] * len(self.columns), "to": [*self.columns]}

    def __str__(self) -> str:
        shown = drawn_columns(self.columns)
        factors = (name if name == "..." else f"p({name} | {self.label})" for name in shown)
        lines = [
            f"{self.label} -> {', '.join(shown)}",
            f"p({self.label}, {', '.join(shown)}) = p({self.label}) {' '.join(factors)}",
        ]
        lines += [f"together, beside that: {', '.join(names)}" for names in self.together]
        return "\n".join(map(visible, lines))

    def to_svg(self) -> str:
        """Return the picture as SVG, in the colour of the text around it."""
        nodes = drawn_columns(self.columns)
        width = max(len(nodes), 1) * STEP
        middle = width / 2
        size = f'viewBox="0 0 {width} {DOWN + 3 * HIGH}" width="{width}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {STYLE}>',
            f"<title>{escape(str(self).partition(chr(10))[0])}</title>",
            TIP,
        ]
        for i, name in enumerate(nodes):
            x = (i + 0.5) * STEP
            if name != "...":
                ends = f'x1="{middle:g}" y1="{2.2 * HIGH:g}" x2="{x:g}" y2="{DOWN + HIGH - 1}"'
                parts.append(f'<line {ends} stroke="currentColor" marker-end="url(#tip)"/>')
            parts += _node(x, DOWN + 2 * HIGH, name, drawn=name != "...")
        parts += _node(middle, 1.2 * HIGH, self.label)
        return "\n".join([*parts, "</svg>"])

    def _repr_html_(self) -> str:
        return self.to_svg()


def graph(model: Model, label: str) -> NaiveGraph:
    """Return the graph of a model (see ``nb.inspect.graph``)."""
    order = {name: i for i, name in enumerate(model.view.schema.order)}
    found: list[tuple[int, str]] = []
    for group in model.view.schema.of_columns:
        names = [*map(title, group.columns)]
        if group.event.layout == "rows":
            names = [", ".join(names)]
        places = (order.get(column, len(order)) for column in group.columns)
        found += zip(places, names, strict=False)
    nodes = dict.fromkeys(name for _, name in sorted(found, key=lambda of: of[0]))
    several: dict[tuple[str, ...], None] = {}
    if model.weights is not None:
        linear = model.weights.linear
        looked_at = [of.columns for of in linear.products] + [of.columns for of in linear.rules]
        several = dict.fromkeys(tuple(sorted(map(title, columns))) for columns in looked_at)
    together = tuple(columns for columns in several if len(columns) > 1)
    return NaiveGraph(label, tuple(nodes), together)


def drawn_columns(columns: Sequence[str]) -> list[str]:
    """Return the columns that are drawn, with dots for those that are left out."""
    if len(columns) <= MOST:
        return [*columns]
    return [*columns[: MOST - 2], "...", columns[-1]]


def _node(x: float, y: float, name: str, *, drawn: bool = True) -> list[str]:
    text = escape(shortened(visible(name), LONGEST))
    ring = (
        f'<ellipse cx="{x:g}" cy="{y:g}" rx="{WIDE}" ry="{HIGH}" fill="none" '
        'stroke="currentColor"/>'
    )
    return [*([ring] if drawn else []), f'<text x="{x:g}" y="{y + 4:g}">{text}</text>']
