"""Parts of pages that are made while they are read: never written by hand, so never out of date.

A page asks for one by a line ``<!-- generated: name -->``. Run as a program, this prints the tables
of accuracy as README has them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import click

from naively.wings.cli.app import app
from naively.wings.mail.command import VERBS as MAIL

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
LINE = re.compile(r"^<!-- generated: ([a-z -]+) -->$", re.MULTILINE)


def verbs() -> str:
    """Return what the command line says of itself, and its verbs, each a link to its page."""
    listed = [
        f"* [{verb}](verbs/{verb}.md): {command.get_short_help_str(limit=200)}"
        for verb, command in _commands().items()
    ]
    return "\n".join([_help(), "Verbs:\n", *listed])


def pages_of_verbs() -> dict[str, str]:
    """Return a page for each verb of the command line, and for each verb of a verb."""
    pages = {}
    for verb, command in _commands().items():
        within = MAIL if verb == "mail" else getattr(command, "commands", ())
        linked = [f"* [{verb} {each}]({verb}-{each}.md)" for each in within]
        pages[verb] = "\n".join([f"# naively {verb}\n", _help(verb), *linked, ""])
        for each in within:
            pages[f"{verb}-{each}"] = f"# naively {verb} {each}\n\n{_help(verb, each)}"
    return pages


def _commands() -> dict[str, click.Command]:
    context = click.Context(app)
    found = {verb: app.get_command(context, verb) for verb in app.list_commands(context)}
    return {verb: command for verb, command in found.items() if command}


def _help(*verb: str) -> str:
    """Return what a verb says of itself, as a block of text."""
    run = [sys.executable, "-m", "naively", *verb, "--help"]
    wide = {**os.environ, "COLUMNS": "92"}
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT, env=wide)  # noqa: S603
    return f"```text\n{done.stdout}```\n"


def accuracy_of_tables() -> str:
    """Return the means of all contenders over the tables, and the log loss of each table."""
    return _accuracy("accuracy-tables.json", "2-fold")


def accuracy_of_texts() -> str:
    """Return the same for texts."""
    return _accuracy("accuracy-texts.json", "once")


def _accuracy(name: str, split: str) -> str:
    """Show each way of splitting; where a file does not say how, it is the one that is given."""
    found = _read(name)
    by_split: dict[str, list[Any]] = {}
    for one in found["results"]:
        if one["trials"]:
            by_split.setdefault(one.get("split", split), []).append(one)
    parts = [_said(found)]
    for of, sets in by_split.items():
        parts += [*([SPLITS[of]] if of in SPLITS else []), *_of_one_split(sets)]
    return "\n\n".join(parts)


def _of_one_split(sets: list[Any]) -> list[str]:
    reached = by_contender(sets)
    shown = [name for name in SHOWN if name in reached]
    by_shown = [_of(reached[name], "log_loss") for name in shown]
    losses = [
        [one["name"], f"{one['rows']:,}"]
        + [_short(of[one["name"]]) if one["name"] in of else "" for of in by_shown]
        for one in sets
    ]
    return [
        f"Means over {len(sets)} data sets, and medians in brackets:",
        _table(HEADS, means(reached, {name: name for name in reached})),
        "Log loss of each data set:",
        _table(["data set", "rows", *shown], losses),
    ]


def by_contender(sets: list[Any]) -> dict[str, Any]:
    """Return what each contender reached on each data set, by the names of both."""
    reached: dict[str, Any] = {}
    for one in sets:
        for trial in one["trials"]:
            if trial["means"]:
                reached.setdefault(trial["contender"], {})[one["name"]] = trial["means"]
    return reached


def means(reached: dict[str, Any], names: dict[str, str]) -> list[list[str]]:
    """Return a row for each contender, the least log loss first, as HEADS says."""
    ours, rows = _of(reached["naively"], "log_loss"), []
    for contender, said in names.items():
        each = [_of(reached[contender], measure) for measure in MEASURES]
        both = [[mean(of.values()), median(of.values())] if of else [] for of in each]
        cells = ["{} ({})".format(*map(_short, of)) if of else "" for of in both]
        lower = sum(ours[name] < loss for name, loss in each[0].items())
        beside = f"{lower} of {len(each[0])}" if each[0] and contender != "naively" else ""
        rows.append([said, *cells, beside])
    return sorted(rows, key=lambda row: row[1] or "9")


def _of(reached: Any, measure: str) -> dict[str, float]:
    return {name: found[measure] for name, found in reached.items() if measure in found}


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


HEADS = [
    "",
    "log loss",
    "accuracy",
    "calibration error",
    "where `NaiveBayes()` has the lower log loss",
]
SPLITS = {
    "2-fold": "Split into halves, one to learn from and one to predict:",
    "80/20": "Split into four fifths to learn from and one to predict:",
}
MEASURES = ("log_loss", "accuracy", "ece")
SHOWN = (
    "naively", "naively interactions", "naively words", "LogisticRegression", "random forest",
    "HistGradientBoosting", "HGB early stopping", "LightGBM", "CatBoost", "EBM",
    "CategoricalNB 10 bins", "tf-idf + LogisticRegression", "tf-idf pairs + LogisticRegr.",
)  # fmt: skip
IN_README = {
    "accuracy-tables.json": {
        "naively": "`NaiveBayes()`",
        "naively interactions": '`NaiveBayes(interactions="auto")`',
        "CatBoost": "CatBoost",
        "HGB early stopping": "gradient boosting (scikit-learn's), stopped early",
        "random forest": "random forest",
        "LogisticRegression": "logistic regression",
        "CategoricalNB 10 bins": "CategoricalNB of 10 bins",
    },
    "accuracy-texts.json": {
        "naively": "`NaiveBayes()`",
        "naively words": '`NaiveBayes(text="words")`',
        "tf-idf + LogisticRegression": "tf-idf and logistic regression",
        "MultinomialNB": "MultinomialNB",
    },
}


def in_readme(name: str) -> str:
    """Return the table of README that is made of a file of results."""
    found = _read(name)
    reached = by_contender(found["results"])
    heads = [f"`{found['command']}`", *HEADS[1:]]
    return _table(heads, means(reached, IN_README[name])) + "\n"


def _read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def _said(found: Any) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return f"Measured by `{found['command']}` on {found['machine']}; {versions}."


def _table(names: list[str], rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(names) - 1)
    return "\n".join(f"| {' | '.join(line)} |" for line in [names, rule, *rows])


MAKE: dict[str, Callable[[], str]] = {
    "verbs": verbs,
    "accuracy of tables": accuracy_of_tables,
    "accuracy of texts": accuracy_of_texts,
}


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Put what is generated into the text of a page."""
    source[0] = LINE.sub(lambda found: MAKE[found[1]](), source[0])


def write_pages(app: Any) -> None:
    """Write the pages of the verbs; one that is as it was is not read again."""
    folder = Path(app.srcdir) / "reference" / "verbs"
    folder.mkdir(exist_ok=True)
    for verb, page in pages_of_verbs().items():
        path = folder / f"{verb}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


def outdated(*_: Any) -> list[str]:
    """Return the pages that are read again each time: what they show may have changed."""
    return [
        path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if LINE.search(path.read_text(encoding="utf-8"))
    ]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", fill)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    sys.stdout.write("\n".join(map(in_readme, IN_README)))
