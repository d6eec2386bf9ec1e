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
    ("train", "rows"): "in proportion from a million on; 100 million take 4.8 times as long as to "
    "read them, and hardly more memory.",
    ("train", "columns"): "in proportion between 300 and 1,000; then fewer rows are in the sample.",
    ("train", "classes"): "below proportion; from 500 on weights are fitted to fewer numbers.",
    ("train", "words"): "hardly: more words are new, or far apart in memory.",
    ("train", "bytes"): "in proportion from 10 MB on, as is the memory for words that are new.",
    ("GaussianNB", "rows"): "up to 10,000 rows the call itself costs more than its cells; then "
    "naively is flat, and scikit-learn's temporary arrays outgrow the caches.",
    ("GaussianNB", "columns"): "all fall to about 100 columns, which share what a row costs once.",
    (
        "GaussianNB",
        "classes",
    ): "a fit is flat up to 100 classes, whose sums fill the nearest cache.",
    ("MultinomialNB", "rows"): "tables of 2 million numbers (words times classes) cost a fit of "
    "few rows most.",
    ("MultinomialNB", "words"): "the fit is flat up to 10,000 words, and then rises with them.",
    ("MultinomialNB", "classes"): "all rise from 16 classes on; of more than 30, naively hardly.",
}


# --- Pictures ------------------------------------------------------------------------------------
#
# The curves of the drop-ins, a row for each, and the growth of the default: seconds above memory.


PICTURES = {"growth": "speed-growth.svg", "curves": "speed-cells.svg"}
COLOURS = {"naively": "#1f6fb4", "scikit-learn": "#d9731a"}
LOOK = {"font.size": 9, "svg.fonttype": "none"}  # letters are text, which is smaller than shapes
STYLES = {"fit": "o-", "predict": "s--"}


def draw(parts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the pictures of what was measured into a folder, and return their paths."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    paths = []
    folder.mkdir(parents=True, exist_ok=True)
    for (part, name), of_row in zip(PICTURES.items(), (_grown, _drawn), strict=True):
        found = parts.get(part, {}).get("rows", [])
        if not found:
            continue
        subjects = [*dict.fromkeys(one.get("subject") for one in found)]
        with rc_context({**LOOK, "svg.hashsalt": name}):
            figure = Figure(figsize=(10, 6.8), layout="constrained")
            axes = figure.subplots(2, len(found) // len(subjects), squeeze=False)
            of_row(axes, found)
            for row in axes:
                limits = [ax.get_ylim() for ax in row]
                for ax in row:
                    ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
                    ax.grid(visible=True, linewidth=0.4, alpha=0.5)
            figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center",
                          ncols=4, frameon=False)  # fmt: skip
            paths.append(folder / name)
            figure.savefig(paths[-1], metadata={"Date": None})
    return paths


def _drawn(axes: Any, curves: Sequence[Mapping[str, Any]]) -> None:
    for ax, curve in zip(axes.flat, curves, strict=True):
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


def _grown(axes: Any, found: Sequence[Mapping[str, Any]]) -> None:
    for of_axis, growth in zip(axes.T, found, strict=True):
        x = growth["x"]
        for ax, what in zip(of_axis, ("seconds", "peak"), strict=True):
            for (side, y), colour in zip(growth[what].items(), COLOURS.values(), strict=True):
                ax.loglog(x, y, "o-", color=colour, markersize=3.5, linewidth=1.3, label=side)
            y = growth[what]["naively"]
            slope = [y[-1] * at / x[-1] for at in x]
            ax.loglog(x, slope, ":", color="#777", linewidth=1, label="slope 1")
            ax.set_ylim(min(map(min, growth[what].values())) / 2, 2 * max(y))
            ax.set_xlabel(growth["axis"])
        of_axis[0].set_title(growth["fixed"], fontsize=8)
    axes[0][0].set_ylabel("seconds of the processor")
    axes[1][0].set_ylabel("peak memory, MB")


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
`ARGS='growth curves'` draws the pictures, and `ARGS=--large` measures what takes gigabytes.
"""


def read(path: Path) -> dict[str, Any]:
    """Read results; of another form, they count as none."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found.get("parts"), dict) else {"parts": {}}


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Write the page, and beside it, in ``static``, the pictures."""
    drawn = draw(found["parts"], path.parent / "static")
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
        if name in PICTURES:
            picture = f"![{PARTS[name].title}](static/{PICTURES[name]})"
            blocks += [picture] * (PICTURES[name] in drawn) + [_sentences(part["rows"])]
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


def _sentences(rows: Sequence[Mapping[str, Any]]) -> str:
    keys = [(row.get("subject", "train"), row["axis"]) for row in rows]
    return "\n".join(f"* {', by '.join(key)}: {BENDS[key]}" for key in keys if key in BENDS)


def main(arguments: Sequence[str]) -> None:
    """Make the page again, from the results and to the file that are named, or the usual ones."""
    results, page = [*map(Path, arguments), *(RESULTS, PAGE)[len(arguments) :]]
    write(page, read(results))
    print(f"{page} is made of {results}")


if __name__ == "__main__":
    main(sys.argv[1:])
