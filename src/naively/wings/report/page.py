"""The page: sections put together into one file that needs no network and runs no foreign code.

Its own program is allowed by its hash alone, so that a script in the data is never run. Text is
escaped (``report.html``), and what the program reads is JSON without any ``<`` (``report.scorer``).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from naively import saving
from naively.inspect.scorecard import scorer as scorer_script
from naively.messages import Shown, visible
from naively.wings.report import first as above
from naively.wings.report import html
from naively.wings.report.about import about
from naively.wings.report.columns import classes, columns
from naively.wings.report.moved import moved
from naively.wings.report.rows import rows
from naively.wings.report.scored import good, threshold_data
from naively.wings.report.scorer import Scorer, make_scorer, page_json
from naively.wings.report.subject import Subject

TITLES = {
    "whatif": "What if?",
    "columns": "What each column adds",
    "good": "How good it is",
    "rows": "Rows: most sure, least sure, most wrong",
    "classes": "Classes",
    "moved": "What has moved",
    "about": "What it learned from, and how",
}
FOLDED = {"rows", "classes", "moved", "about"}  # sections that are opened by who wants them
SCRIPTS = ("elements.js", "whatif.js", "nomogram.js", "decide.js")


@dataclass(frozen=True, eq=False, repr=False)
class Report(Shown):
    """A page about a model: HTML that needs nothing else.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
    >>> report = nb.export.report()
    >>> report.html.startswith("<!doctype html>")
    True
    """

    html: str
    title: str
    sections: tuple[str, ...]

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file; one that is there is replaced.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        with saving.writing(path) as file:
            file.write(self.html.encode())

    def __str__(self) -> str:
        size = len(self.html.encode())
        return f"{self.title}: a page of {size:,} bytes\n" + "\n".join(self.sections)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the page, apart from theirs."""
        page = html.quoted(self.html)
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" width="100%" height="700"></iframe>'
        )


def write_report(subject: Subject, name: str = "") -> Report:
    """Return the page about a model."""
    # subject: the model, and the rows that it is shown on; name: what the model is called; by
    # default by its target
    target = visible(subject.target)
    title = name or (f"What predicts {target}" if target else "What a model learned")
    scorer = make_scorer(subject)
    bodies = {
        "whatif": what_if(scorer),
        "columns": columns(subject),
        "good": good(subject),
        "rows": rows(subject),
        "classes": classes(subject),
        "moved": moved(subject),
        "about": about(subject),
    }
    script = scorer_script() + "".join(map(_asset, SCRIPTS))
    lead, first, judged = above.lead(subject), above.first(subject), threshold_data(subject)
    return assembled(title, TITLES, bodies, lead, first, script, scorer.json, page_json(judged))


def assembled(
    title: str,
    titles: Mapping[str, str],
    bodies: Mapping[str, str],
    lead: str = "",
    first: str = "",
    script: str = "",  # what moves on the page
    data: str = "null",  # what it reads, as JSON without any "<"
    judged: str = "null",
) -> Report:
    """Return a page of sections, those that have a body."""
    there = {key: body for key, body in bodies.items() if body}
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = Template(_asset("page.html")).substitute(
        digest=digest,
        title=html.escaped(title),
        heading=html.data(title),
        lead=lead,
        first=first,
        style=_asset("page.css"),
        contents=" ".join(f'<a href="#{key}">{titles[key]}</a>' for key in there),
        sections="\n".join(
            html.section(key, titles[key], body, folded=key in FOLDED)
            for key, body in there.items()
        ),
        data=data,
        judged=judged,
        script=script,
    )
    return Report(page, visible(title), tuple(titles[key] for key in there))


def what_if(scorer: Scorer) -> str:
    """Let a reader change the cells of a row and see the posterior move, beside a nomogram."""
    if not scorer.columns:
        return html.note(scorer.why) if scorer.why else ""
    said = (
        "Change a cell, or drag its mark along its scale: the further to the right, the more it "
        "speaks for the class. The weights of all columns add up to the log odds."
    )
    if scorer.columns < scorer.read:
        said += f" These are the {scorer.columns} of {scorer.read:,} columns that are worth most."
    left_out = html.note(scorer.left_out) if scorer.left_out else ""
    return html.how_to_read(said) + left_out + _asset("whatif.html")


def _asset(name: str) -> str:
    return files("naively.wings.report").joinpath(name).read_text(encoding="utf-8")
