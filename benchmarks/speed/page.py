"""The page of the results, made from their JSON alone: ``python -m benchmarks.speed.page``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.speed.beside import PARTS, shown

# --- Where each curve bends, and why: written by looking at the pictures, one sentence for each ---
#
# A sentence is of the pictures that are committed; look again when the curves are measured again.


BENDS = {
    ("GaussianNB", "rows"): "up to some 10,000 rows the call itself costs more than its cells: "
    "0.1 ms for a fit by naively, 0.5 ms by scikit-learn; then naively is flat, at 1 ns a cell for "
    "a fit and 2 ns for a prediction, while the temporary arrays of scikit-learn's predictions "
    "outgrow the caches.",
    ("GaussianNB", "columns"): "all fall until a row has about 100 columns, which share what it "
    "costs once: its label, its place among the rows of its class, its probabilities.",
    ("GaussianNB", "classes"): "a fit adds each cell to one class only and is flat up to about 100 "
    "classes, from where on the sums of all classes are larger than the nearest cache; prediction "
    "compares each cell with each class and grows in proportion, on both sides.",
    ("NaiveBayes, numbers", "rows"): "the fit bends down after 10,000 rows, which is how many its "
    "weights are fitted to: from there on only the counting grows; prediction is flat from 1,000 "
    "rows on.",
    (
        "NaiveBayes, numbers",
        "columns",
    ): "both bend at about 30 columns, where what a row costs once "
    "is spread thin; then the fit rises a little, for its weights and its linear part are solved "
    "for all columns together.",
    ("NaiveBayes, numbers", "classes"): "the fit grows with the classes from the beginning, since "
    "the leave-one-out table of its sample has a column for each class, and each column of the "
    "table a weight for each; prediction follows from about 10 classes on.",
    ("MultinomialNB", "rows"): "a fit of few rows takes as long whatever they hold, for its tables "
    "of 2 million numbers (words times classes): 2 ms by naively, 12 ms by scikit-learn; the "
    "counts cost more than these above some 10,000 rows, and 30,000.",
    ("MultinomialNB", "words"): "the fit is flat up to 10,000 words and then rises with the same "
    "table, which has more entries than the matrix has counts; naively's prediction hardly rises.",
    ("MultinomialNB", "classes"): "all bend up at about 16 classes: prediction adds one entry for "
    "each class and count, and scikit-learn's fit makes a table of words times classes; of more "
    "than 30 classes naively's holds only those that each word came in, and hardly rises any more.",
    (
        "NaiveBayes, texts",
        "texts",
    ): "prediction hardly falls after 1,000 texts; the fit falls until some "
    "3,000, and again after 10,000, since its weights are fitted to no more than these.",
    (
        "NaiveBayes, texts",
        "words",
    ): "there is no bend: from 100 words to 300,000 a fit rises by less "
    "than twice, and naively's prediction by two and a half times, as more of the words and "
    "bigrams are new, or far apart in memory.",
    ("NaiveBayes, texts", "classes"): "the fit bends up after 5 classes, since the leave-one-out "
    "table of its texts has a column for each class; prediction hardly rises until some 40, for "
    "most words come in few classes and only those are looked up.",
}


# --- Pictures ------------------------------------------------------------------------------------
#
# The curves, drawn: one picture of numbers and one of counts and texts, a row for each model.


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


# --- The page of the results, made from their JSON alone: ``python -m benchmarks.speed.page`` ----


ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "speed.json", ROOT / "docs" / "speed.md"
HEAD = """\
# Speed

This page is made from `benchmarks/results/speed.json` by `make bench` and `make bench-text`;
`python -m benchmarks.speed.page` makes it again without measuring. The data sets are public and not
in this repository: `NAIVELY_DATA` names a folder of them, and without it the parts on them are left
out.

naively and what is beside it take turns. A time is the median of the rounds. The last columns are
how many times less naively takes (time, memory or bytes), as the median of the rounds, and their
range; what takes long runs once. Times are those of the processor, on one thread; where a row says
how many threads there are, they are those of a clock on the wall.
`make bench ARGS='tables drop-ins'` measures these parts again and leaves the others as they were,
`ARGS=curves` draws the curves, and `ARGS=--large` measures what takes minutes and gigabytes too.
"""


def read(path: Path) -> dict[str, Any]:
    """Read results; of another form, they count as none."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found.get("parts"), dict) else {"parts": {}}


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Write the page, and beside it, in ``static``, the pictures."""
    drawn = draw(found["parts"].get("curves", {}).get("rows", []), path.parent / "static")
    path.write_text(text(found, [one.name for one in drawn]), encoding="utf-8")


def text(found: Mapping[str, Any], drawn: Sequence[str] = ()) -> str:
    """Return the page of these results; ``drawn`` are the pictures that it shows."""
    parts = {name: found["parts"][name] for name in PARTS if name in found["parts"]}
    machines = {json.dumps(part["on"], sort_keys=True): part["on"] for part in parts.values()}
    blocks = [HEAD.rstrip()]
    if len(machines) == 1:
        blocks.append(_machine(*machines.values()))
    for name, part in parts.items():
        blocks += ["## " + PARTS[name].title]
        if PARTS[name].about:
            blocks.append(PARTS[name].about)
        if len(machines) > 1:
            blocks.append(_machine(part["on"]))
        if name == "curves":
            blocks += _curves(part["rows"], drawn)
        else:
            blocks.append(_table(part["rows"], PARTS[name].ratio))
    absent = [part.title for name, part in PARTS.items() if name not in parts]
    if absent:
        blocks.append(f"Not measured: {', '.join(absent)}.")
    return "\n\n".join(blocks) + "\n"


def _machine(on: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    return (
        f"Measured on {on['processor']}, {on['cores']} cores, {on['memory']} of memory, "
        f"{on['system']}; kernels {on['kernels']}; {versions}."
    )


def _table(rows: Sequence[Mapping[str, Any]], ratio: str) -> str:
    lines = [["", "naively", "beside it", "", ratio, "range"], ["---", *["---:"] * 5]]
    lines[1][2] = "---"
    before = None
    for row in rows:
        name = row["name"] + (f", {row['threads']} threads" if row["threads"] > 1 else "")
        same = name == before  # one more peer of the same work
        by_round = row.get("range", [])
        spread = f"{shown(by_round[0])} to {shown(by_round[1])}" if _has_range(row) else ""
        peer = ", ".join(said for said in (row["peer"], row["note"]) if said)
        lines.append([
            "" if same else name,
            "" if same else _figure(row["ours"], row["unit"]),
            peer,
            _figure(row["theirs"], row["unit"]),
            shown(row["ratio"]) if "ratio" in row else "",
            spread,
        ])  # fmt: skip
        before = name
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _has_range(row: Mapping[str, Any]) -> bool:
    return "range" in row and max(len(row["ours"]), len(row["theirs"])) > 1


def _figure(figures: Sequence[float], unit: str) -> str:
    """Return the median with a unit that suits it."""
    if not figures:
        return ""
    figure = median(figures)
    if unit == "s" and figure < 1:
        figure, unit = (1e3 * figure, "ms") if figure >= 1e-3 else (1e6 * figure, "µs")
    return f"{shown(figure)} {unit}"


def _curves(curves: Sequence[Mapping[str, Any]], drawn: Sequence[str]) -> list[str]:
    about = (
        "The time of one cell, count or byte, as a table or a collection of texts grows along one "
        "axis and stays as it is along the others; a flat line is time in proportion to what is "
        "read. Beside naively are GaussianNB, GaussianNB with CalibratedClassifierCV, "
        "MultinomialNB, and CountVectorizer with MultinomialNB."
    )
    blocks = [about]
    for name in drawn:
        of = [curve for curve in curves if curve["subject"] in PICTURES[name]]
        title = ", ".join(PICTURES[name])
        blocks.append(f"![Nanoseconds by size: {title}](static/{name})")
        said = [
            f"* {curve['subject']}, by {curve['axis']}: {BENDS[curve['subject'], curve['axis']]}"
            for curve in of
            if (curve["subject"], curve["axis"]) in BENDS
        ]
        if said:
            blocks.append("\n".join(said))
    return blocks


def main(arguments: Sequence[str]) -> None:
    """Make the page again, from the results and to the file that are named, or the usual ones."""
    results, page = [*map(Path, arguments), *(RESULTS, PAGE)[len(arguments) :]]
    write(page, read(results))
    print(f"{page} is made of {results}")


if __name__ == "__main__":
    main(sys.argv[1:])
