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
from naively.export.scorecard import scorer as scorer_script
from naively.messages import Shown, visible
from naively.report import html, sections
from naively.report.sections import Subject, make_scorer

TITLES = {
    "warnings": "Before you believe it",
    "learned": "What it learned from",
    "good": "How good it is",
    "calibration": "Can its probabilities be believed?",
    "classes": "Classes",
    "columns": "Columns",
    "interactions": "Interactions",
    "moved": "What has moved",
    "rows": "Rows",
    "whatif": "What if?",
}


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
        page = html.escaped_page(self.html)
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{page}" width="100%" height="700"></iframe>'
        )


def write_report(subject: Subject, name: str = "") -> Report:
    """Return the page about a model.

    Parameters
    ----------
    subject : Subject
        The model, and the rows that it is shown on.
    name : str
        What the model is called; by default by its target.
    """
    target = subject.provenance.get("target")
    title = name or (f"naively: {target}" if target else "naively: a model")
    scorer = make_scorer(subject)
    bodies = {
        "warnings": sections.warnings(subject),
        "learned": sections.learned(subject),
        "good": sections.good(subject),
        "calibration": sections.calibration(subject),
        "classes": sections.classes(subject),
        "columns": sections.columns(subject),
        "interactions": sections.interactions(subject),
        "moved": sections.moved(subject),
        "rows": sections.rows(subject),
        "whatif": sections.what_if(scorer),
    }
    script = scorer_script() + _asset("page.js")
    return assembled(title, TITLES, bodies, scorer.json, script)


def assembled(
    title: str,
    titles: Mapping[str, str],
    bodies: Mapping[str, str],
    data: str = "null",
    script: str = "",
) -> Report:
    """Return a page of sections, those that have a body.

    Parameters
    ----------
    title : str
        Of the page.
    titles : mapping of str to str
        The title of each section, by its name.
    bodies : mapping of str to str
        The HTML of each section, in their order.
    data : str
        What the script reads, as JSON without any ``<``.
    script : str
        The page's own program.
    """
    there = {key: body for key, body in bodies.items() if body}
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = Template(_asset("page.html")).substitute(
        digest=digest,
        title=html.escaped(title),
        heading=html.data(title),
        style=_asset("page.css"),
        contents=" ".join(f'<a href="#{key}">{titles[key]}</a>' for key in there),
        sections="\n".join(html.section(key, titles[key], body) for key, body in there.items()),
        data=data,
        script=script,
    )
    return Report(page, visible(title), tuple(titles[key] for key in there))


def _asset(name: str) -> str:
    return files("naively.report").joinpath(name).read_text(encoding="utf-8")
