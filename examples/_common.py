"""What the examples share: data, printed scores, Axes side by side, files."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

STYLE = {
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=["#0072B2", "#D55E00", "#009E73", "#CC79A7"]),
    "figure.dpi": 150,
}


def real(name: str, instead: str) -> Path | None:
    """Say which data are used; return the path of the real ones, or None."""
    folder = os.environ.get("NAIVELY_DATA")
    if folder:
        print(f"Data: {name}, in full.")
        return Path(folder) / name
    print(
        f"Data: {instead}; in full, with NAIVELY_DATA set to a folder of data: {name}."
    )
    return None


def read(path: Path) -> Any:
    """Return a table of a CSV file, or of a file of JSON lines."""
    import pandas as pd

    return (
        pd.read_csv(path) if path.suffix == ".csv" else pd.read_json(path, lines=True)
    )


def print_scores(scores: dict[str, Any]) -> None:
    """Print accuracy, log loss and calibration error, a line for each model."""
    width = max(map(len, scores))
    for name, s in scores.items():
        error = f"calibration error {s.calibration_error:.3f}"
        losses = f"accuracy {s.accuracy:.4f}   log loss {s.log_loss:.4f}"
        print(f"{name:{width}}   {losses}   {error}")


def side_by_side(
    *titles: str, rows: int = 1, width: float = 3.35, height: float = 2.6
) -> Any:
    """Return Axes of a new figure, one for each title; width and height are of each."""
    plt.rcParams.update(STYLE)
    columns = -(-len(titles) // rows)
    figure = plt.figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = []
    parts = figure.subfigures(rows, columns, squeeze=False).flat
    for title, part in zip(titles, parts, strict=False):
        part.suptitle(title, fontsize=8)
        axes.append(part.subplots())
    return axes


def draw_lines(x: Any, lines: dict[str, Any], labels: tuple[str, str], ax: Any) -> None:
    """Draw lines over a logarithmic axis, each with a dash and a marker of its own."""
    for (name, y), dash, marker in zip(
        lines.items(), ("-", "--", "-.", ":"), "os^D", strict=False
    ):
        ax.plot(x, y, dash, marker=marker, markersize=3, linewidth=1.2, label=name)
    ax.set_xscale("log")
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.legend()


def finish() -> None:
    """Write the figures to the folder of ``--out``, or show them on a screen."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where pictures are written"
    )
    folder = arguments.parse_args().out
    if folder is None:
        if plt.get_backend().lower() != "agg":
            plt.show()
        return
    folder.mkdir(parents=True, exist_ok=True)
    for number in plt.get_fignums():
        plt.figure(number).savefig(
            folder / f"{Path(sys.argv[0]).stem}-{number}.png", dpi=150
        )
