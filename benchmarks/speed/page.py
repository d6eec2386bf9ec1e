"""The page of the results, made from their JSON alone: ``python -m benchmarks.speed.page``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.speed import pictures
from benchmarks.speed.bends import BENDS
from benchmarks.speed.beside import shown
from benchmarks.speed.parts import PARTS

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
    drawn = pictures.draw(found["parts"].get("curves", {}).get("rows", []), path.parent / "static")
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
        of = [curve for curve in curves if curve["subject"] in pictures.PICTURES[name]]
        title = ", ".join(pictures.PICTURES[name])
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
