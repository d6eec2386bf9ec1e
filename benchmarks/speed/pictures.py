"""The curves, drawn: one picture of numbers and one of counts and texts, a row for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PICTURES = {
    "speed-numbers.svg": ("GaussianNB", "NaiveBayes, numbers"),
    "speed-counts.svg": ("MultinomialNB", "NaiveBayes, texts"),
}
COLOURS = {"naively": "#1f6fb4", "scikit-learn": "#d9731a"}
LOOK = {"font.size": 9, "svg.fonttype": "none"}  # letters are text, which is smaller than shapes
STYLES = {"fit": "o-", "predict": "s--"}


def draw(curves: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Draw the pictures of these curves into a folder, and return their paths."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, subjects in PICTURES.items():
        of = [[curve for curve in curves if curve["subject"] == one] for one in subjects]
        if not all(of):
            continue
        with rc_context({**LOOK, "svg.hashsalt": name}):
            figure = Figure(figsize=(10, 6.8), layout="constrained")
            axes = figure.subplots(len(of), max(map(len, of)), squeeze=False)
            for row, of_subject in zip(axes, of, strict=True):
                for ax, curve in zip(row, of_subject, strict=True):
                    _draw(ax, curve)
                low = min(ax.get_ylim()[0] for ax in row)
                high = max(ax.get_ylim()[1] for ax in row)
                for ax in row:
                    ax.set_ylim(low, high)
            figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center",
                          ncols=4, frameon=False)  # fmt: skip
            paths.append(folder / name)
            figure.savefig(paths[-1], metadata={"Date": None})
    return paths


def _draw(ax: Any, curve: Mapping[str, Any]) -> None:
    for side, colour in COLOURS.items():
        for work, style in STYLES.items():
            y = [1e9 * seconds for seconds in curve[work][side]]
            ax.loglog(
                curve["x"], y, style, color=colour, markersize=3.5, linewidth=1.3,
                label=f"{side}, {work}",
            )  # fmt: skip
    fixed = ", ".join(f"{value:,} {name}" for name, value in curve["fixed"].items())
    ax.set_title(f"{curve['subject']}\n{fixed}", fontsize=9)
    ax.set_xlabel(curve["axis"])
    ax.set_ylabel(f"nanoseconds a {curve['per']}")
    ax.grid(visible=True, linewidth=0.4, alpha=0.5)
