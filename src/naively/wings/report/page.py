"""The page: sections put together into one file that needs no network and runs no foreign code.

Its own program is allowed by its hash alone, so that a script in the data is never run. Text is
escaped (``report.html``), and what the program reads is JSON without any ``<`` (``report.scorer``).
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

import numpy as np

from naively import saving
from naively.assess.scores import Scores
from naively.counting.axis import title
from naively.file.store import HISTORY
from naively.frozen import Frozen
from naively.inspect.parameters import count_joint_parameters, count_parameters
from naively.inspect.scorecard import scorer as scorer_script
from naively.messages import Shown, amount, many, visible
from naively.model.model import Model
from naively.schema.diagnose import OWN_LEVELS, leaks
from naively.wings.report import html
from naively.wings.report.columns import OPEN, classes, columns, importance_bars
from naively.wings.report.html import of_100
from naively.wings.report.scored import good, rows, threshold_data
from naively.wings.report.scorer import Scorer, make_scorer, page_json
from naively.wings.report.subject import JudgedRows, Subject, moved, prior_loss

# --- What a model is and where it comes from, as facts --------------------------------------------


# What a model file says about where the model comes from.
FILE = {
    "target": "predicted column",
    "rows": "rows of the file",
    "hold_out": "share held out when it was trained",
    "seed": "seed of that",
    "left_out": "columns that were left out",
}
WEIGHTS = {"loo": "one for each column, fitted on leave-one-out evidence", "temperature": "one"}


def facts_of(subject: Subject) -> list[tuple[str, object]]:
    """Return what the model learned from, and how, a name and a value each."""
    model, settings = subject.model, subject.model.settings
    count = model.counted.tally.class_count
    weights = "none: pure naive Bayes"
    if model.weights is not None:
        weights = WEIGHTS.get(model.weights.how, model.weights.how)
    facts: list[tuple[str, object]] = [
        ("rows", amount(float(count.sum()))),
        ("classes", len(count)),
        ("columns", model.view.schema.width),
        ("free parameters", count_parameters(model)),
        ("free parameters without the naive assumption", _joint(model)),
        ("class prior", str(settings.class_prior)),
        ("estimate", settings.estimate),
        ("weights of the evidence", weights),
    ]
    if model.weights is not None and model.weights.linear:
        facts.append(("linear part", str(model.weights.linear)))
    if model.seen is not None:
        facts.append(("rows seen before", model.seen.note))
    facts += [
        (FILE.get(key, key), str(value))
        for key, value in subject.provenance.items()
        if key != HISTORY and value
    ]
    return facts


def _joint(model: Model) -> str:
    """Say how many free parameters the full joint table has."""
    total = count_joint_parameters(model)
    if total == math.inf:
        return "unlimited, because a column holds numbers or texts"
    return f"{total:,}" if total < 10**12 else f"about 10^{len(str(total)) - 1}"


# --- What is seen first ---------------------------------------------------------------------------


FEW_ROWS = 100  # that were scored: a share of them is not known to 10 %
FEW_OF_CLASS = 30  # rows of the rarest class
MOVED = 0.02  # nats: a divergence that is less does little, however sure it is
NAMED = 5  # classes, or columns, that are named
HIGHEST = 100  # rows that are ranked highest
OFF = 0.02  # beyond twice of what chance makes: probabilities are off


def lead(subject: Subject) -> str:
    """Say what is predicted, from how many rows of what, and when this was written."""
    model = subject.model
    labels = [visible(str(label)) for label in model.classes.tolist()]
    few = len(labels) <= NAMED
    which = html.listed(labels, NAMED) if few else f"one of {len(labels):,} classes"
    rows, columns = float(model.counted.tally.class_count.sum()), model.view.schema.width
    what = f"<b>{html.data(subject.target)}</b>" if subject.target else "a class"
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return (
        f'<p class="lead">It predicts {what} ({html.escaped(which)}) from '
        f"{many(columns, 'column')}, and has learned {amount(rows)} rows. "
        f"<time>{today}</time></p>"
    )


def first(subject: Subject) -> str:
    """Return the first screen, below its heading."""
    bars, there = importance_bars(subject, OPEN)
    said = "".join(f'<p class="say">{line}</p>' for line in sentences(subject))
    left = f'<div class="says">{said}</div>'
    doubted = [html.escaped(text) for text in doubts(subject)]
    if doubted:
        left = html.section("warnings", "Before you believe it", html.alert(doubted)) + left
    if not bars:
        return f'<div class="first">{left}</div>'
    heading = f"The {OPEN} columns that matter most" if there > OPEN else "What matters"
    return f'<div class="first">{left}<div class="matter"><h2>{heading}</h2>{bars}</div></div>'


def sentences(subject: Subject) -> Iterator[str]:
    """Say how good it is, in plain words; escaped."""
    best, judged = subject.best, subject.judged
    if best is None or judged is None:
        yield (
            "It cannot be scored: that takes rows of two classes, either learned and kept (save "
            "with keep_rows=True, or train with --keep-rows) or given with their labels."
        )
        return
    prior = prior_loss(best)
    share = 1 - best.log_loss / prior if prior else 0.0
    explained = (
        f"It explains <b>{f'{of_100(share)} %' if share > 0 else 'nothing'}</b> of the uncertainty "
        f"about the class: its log loss is {best.log_loss:.3g} nats per row, and {prior:.3g} for "
        "the shares of the classes alone."
    )
    low, high = best.intervals.get("accuracy", (np.nan, np.nan))
    others = f"It would be right for {of_100(low)} to {of_100(high)} of 100 other such rows"
    if subject.uneven:
        yield explained
        n, hits, said, by_chance = highest(subject, judged, best.rows)
        name = _name(subject, subject.model.classes[subject.spoken_for])
        name = name if len(subject.model.classes) == 2 else f"not {name}"
        yield (
            f"<b>{hits:.0f}</b> of the {n:,} highest ranked rows are {name}. Its probabilities "
            f"predict {said:.0f}, and {by_chance:.1f} are expected by chance."
        )
        low, high = best.intervals.get("log_loss", (np.nan, np.nan))
        others = f"The log loss of other such rows would be {low:.3g} to {high:.3g}"
    else:
        said = float(np.average(judged.p.max(axis=1), weights=judged.weight))
        yield (
            f"It is right for <b>{of_100(best.accuracy)} of 100</b> rows. Its probabilities say "
            f"{of_100(said)}, and always answering {_name(subject, best.majority)} is right for "
            f"{of_100(best.majority_accuracy)}."
        )
        yield explained
    yield f'<span class="note">{_basis(subject, best)} {others} (about 95 % interval).</span>'


def _basis(subject: Subject, best: Scores) -> str:
    """Say which rows were scored."""
    if best is subject.scores:
        more = ", most of them learned" if subject.known else ""
        return f"Scored on the {best.rows:,} rows that were given{more}."
    which = f"{best.rows:,} of {best.of:,}" if best.rows < best.of else f"all {best.rows:,}"
    return f"Scored on {which} learned rows, cross-validated."


def highest(subject: Subject, judged: JudgedRows, rows: int) -> tuple[int, float, float, float]:
    """Return how many rows rank highest, and how many of them are so: truly, as said, by chance."""
    # The class is the rarer of two, or all but the most frequent; at most a tenth of the rows rank.
    c, n = subject.spoken_for, max(1, min(HIGHEST, rows // 10))
    p, hit = judged.p[:, c], judged.right == c
    if len(subject.model.classes) > 2:
        p, hit = 1 - p, ~hit
    weight = judged.weight * (rows / judged.weight.sum())
    order = np.argsort(-p, kind="stable")
    before = np.cumsum(weight[order]) - weight[order]
    some = np.clip(n - before, 0.0, weight[order])
    hits, said = (float(some @ of[order]) for of in (hit, p))
    return n, hits, said, float(np.average(hit, weights=weight)) * n


def _name(subject: Subject, label: object) -> str:
    """Return a class: a word as it is, a number with what is predicted."""
    is_word = any(character.isalpha() for character in str(label))
    return f"“{html.data(label if is_word else subject.named(label))}”"


def doubts(subject: Subject) -> Iterator[str]:
    """Say what would make the scores too good to be true, and what else is to be doubted."""
    yield from leaks(subject.model.described(), subject.model.view.tally)
    share = subject.share_learned
    if subject.known:
        yield (
            f"{share:.0%} of the given rows are equal to learned rows: scores on new rows will be "
            "worse."
        )
    elif np.isnan(share):
        yield (
            "The given rows have as many of each class as the learned rows. If they are the "
            "learned rows, scores on new rows will be worse."
        )
    yield from _of_few(subject)
    yield from _of_columns(subject)


def _of_few(subject: Subject) -> Iterator[str]:
    """Say what too few rows leave open, and where it is no better than one answer."""
    best = subject.best
    if best is None or len(subject.model.classes) < 2:
        return
    if best.rows < FEW_ROWS:
        low, high = best.intervals.get("accuracy", (0.0, 1.0))
        yield (
            f"Only {best.rows:,} rows were scored: it may be right for {of_100(low)} to "
            f"{of_100(high)} of 100."
        )
    elif best.support is not None and best.support.rarest[1] < FEW_OF_CLASS:
        label, rows = best.support.rarest
        yield (
            f"Only {rows:,} of the scored rows are of class {label!r}: its scores may be chance."
        )
    if subject.uneven:
        if best.intervals.get("log_loss", (0.0, 0.0))[1] >= prior_loss(best):
            yield "It may predict no better than the shares of the classes."
    elif best.intervals.get("accuracy", (1.0, 1.0))[0] <= best.majority_accuracy:
        yield "It may be no better than always answering the most frequent class."
    if best.calibration_error > 2 * best.calibration_noise + OFF:
        yield (
            f"Its probabilities are off by {best.calibration_error:.0%} on average, more than by "
            "chance."
        )


def _of_columns(subject: Subject) -> Iterator[str]:
    """Say which columns are like identifiers, and which have moved."""
    notes = subject.model.described().notes
    own = [title(name) for name, note in notes.items() if OWN_LEVELS in note]
    if own:
        yield (
            f"Nearly every row has its own {html.listed(own, NAMED)}, like an identifier. A new "
            "row will have another. Leave it out."
        )
    found = subject.drift
    if found is None:
        return
    far = found.moved & (found.divergence > MOVED) & (np.array(found.what) != "log loss")
    moved = [found.column[i] or "the classes" for i in np.flatnonzero(far)]
    if moved:
        yield f"{html.listed(moved, NAMED)} moved ({found.between}): see what has moved."


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


class Report(Shown, Frozen):
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
        head = f"{self.title}: a page of {len(self.html.encode()):,} bytes"
        return "\n".join([head, *self.sections])

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
        "about": html.table(["", ""], facts_of(subject)),
    }
    script = scorer_script() + "".join(map(html.asset, SCRIPTS))
    above, judged = (lead(subject), first(subject)), page_json(threshold_data(subject))
    return assembled(title, TITLES, bodies, *above, script, scorer.json, judged)


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
    page = Template(html.asset("page.html")).substitute(
        digest=digest,
        title=html.escaped(title),
        heading=html.data(title),
        lead=lead,
        first=first,
        style=html.asset("page.css"),
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
        "Change a cell, or drag its mark along its scale. A mark further to the right is stronger "
        "evidence for the class. The weights of all columns add up to the log odds."
    )
    if scorer.columns < scorer.read:
        said += f" These are the {scorer.columns} best of {scorer.read:,} columns."
    left_out = html.note(scorer.left_out) if scorer.left_out else ""
    return html.how_to_read(said) + left_out + html.asset("whatif.html")
