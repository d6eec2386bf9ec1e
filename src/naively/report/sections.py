"""The sections of a report, each from what it is of; a section without anything to say is empty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from naively.counting.axis import Name, title
from naively.evaluation.scores import Scores
from naively.file.store import HISTORY
from naively.model.explain import ExplainedRow
from naively.model.model import Model
from naively.model.parameter_counts import count_joint_parameters, count_parameters
from naively.model.strongest import strongest
from naively.report import html
from naively.report.scorer import Scorer
from naively.report.subject import ShownRows, Subject
from naively.report.svg import svg_of
from naively.schema.diagnose import leaks

CLASSES = 30  # that are described one by one
COLUMNS = 24  # that are drawn
WORDS = 10  # of each class
ITEMS = 10  # of an explanation
# What a model file says about where the model comes from.
FILE = {"rows": "rows of its file", "hold_out": "of these held out", "seed": "by the seed"}
HARDLY = 5e-5  # nats a row, which is 0.0000 when it is written


def warnings(subject: Subject) -> str:
    """Say what would make the scores too good to be true."""
    said = [html.escaped(text) for text in leaks(subject.model.described, subject.model.taken)]
    share = subject.share_learned
    if subject.known:
        said.append(
            f"Of the rows that were given {share:.0%} are equal to rows that it has learned, so "
            "that their scores are those of rows it knows: new rows will be scored worse."
        )
    elif math.isnan(share):
        said.append(
            "The rows that were given are as many of each class as it has learned. If they are the "
            "rows that it has learned, new rows will be scored worse."
        )
    return html.alert(said)


def learned(subject: Subject) -> str:
    """Say what the model learned from, and how."""
    model, settings = subject.model, subject.model.settings
    count = model.tally.class_count
    weights = "none: pure naive Bayes" if model.weights is None else model.weights.how
    facts: list[tuple[str, object]] = [
        ("rows", float(count.sum())),
        ("classes", len(count)),
        ("columns", model.schema.width),
        ("free parameters", count_parameters(model)),
        ("without the naive Bayes assumption", _without_assumption(model)),
        ("class prior", str(settings.class_prior)),
        ("estimate", settings.estimate),
        ("weights of the evidence", weights),
    ]
    if model.weights is not None and model.weights.linear:
        facts.append(("linear part", str(model.weights.linear)))
    facts += [
        (FILE.get(key, key), str(value))
        for key, value in subject.provenance.items()
        if key != HISTORY
    ]
    lines = "".join(
        f"<tr><th scope='row'>{html.escaped(name)}</th><td>{html.cell(value)}</td></tr>"
        for name, value in facts
    )
    found = [
        f"<li>{html.data(title(name))}: {html.data(note)}</li>"
        for name, note in model.described.notes.items()
    ]
    more = html.details(f"What was noticed of {len(found):,} columns", f"<ul>{''.join(found)}</ul>")
    return f"<table><tbody>{lines}</tbody></table>" + (more if found else "")


def _without_assumption(model: Model) -> str:
    """Say how many free parameters the full joint table has."""
    many = count_joint_parameters(model)
    return "without end, as a column holds numbers or texts" if many == math.inf else str(many)


def good(subject: Subject) -> str:
    """Say how good the model is: by cross-validation, and on rows that it never saw."""
    of: dict[str, Scores] = {}
    if subject.assessment is not None:
        of["on learned rows, cross-validated"] = subject.assessment
    if subject.scores is not None:
        which = "on given rows, most of them learned" if subject.known else "on the rows given"
        of[which] = subject.scores
    if not of:
        return html.note(
            "Nothing is known of how good it is: no sample of the learned rows is kept "
            "(save with keep_rows=True, or train with --keep-rows), and no labelled rows were "
            "given."
        )
    names = (
        "rows",
        "accuracy",
        "majority_accuracy",
        "log_loss",
        "brier",
        "auc",
        "calibration_error",
    )
    said = ("rows", "accuracy", "accuracy of the most frequent class", "log loss (nats a row)",
            "Brier score", "area under ROC", "calibration error")  # fmt: skip
    lines = [
        [what, *(getattr(s, name) for s in of.values())]
        for what, name in zip(said, names, strict=True)
    ]
    best = subject.best
    assert best is not None
    return html.table(["", *of], lines) + html.figure(
        svg_of(best.plot_confusion(), "confusion", "Rows by right class and by answer"),
        html.escaped("Rows by right class (down) and most probable class (across)."),
    )


def calibration(subject: Subject) -> str:
    """Show how far the probabilities can be believed."""
    best = subject.best
    if best is None:
        return ""
    before = subject.scores_without_weights if best is subject.scores else None
    ax = best.plot_reliability(before=before)
    return html.figure(
        svg_of(ax, "reliability", "Accuracy against confidence"),
        html.escaped("How often the most probable class is right, against its probability."),
    )


def classes(subject: Subject) -> str:
    """Describe each class: its share, its scores and what speaks most for it."""
    model = subject.model
    count, labels = model.tally.class_count, model.classes.tolist()
    best = subject.best
    order = sorted(range(len(labels)), key=lambda c: -count[c])
    lines = []
    for c in order[:CLASSES]:
        of = (
            (None, None, None) if best is None else best.by_class.get(labels[c], (None, None, None))
        )
        lines.append([str(labels[c]), float(count[c]), float(count[c] / count.sum()), *of[:2]])
    body = html.table(["class", "rows learned", "share", "precision", "recall"], lines)
    if len(labels) > CLASSES:
        body += html.note(f"These are the {CLASSES} most frequent of {len(labels):,} classes.")
    cards = (
        f"<h3>{html.data(labels[c])}</h3>"
        + html.table(
            ["speaks for it", "", "nats"],
            [[column, value, html.Nats(of)] for column, value, of in strongest(model, c, WORDS)],
        )
        for c in order[:CLASSES]
    )
    return body + (html.cards(cards) if len(labels) > 1 else "")


def columns(subject: Subject) -> str:
    """Draw each column by class, those that are worth most first."""
    model, worth = subject.model, subject.worth
    cost = subject.cost
    schema = model.described
    drawn = list(_drawn(subject, worth[:COLUMNS], cost))
    lines = [
        [title(name), str(schema.columns[name].event) if name in schema.columns else "not learned",
         schema.columns[name].kind if name in schema.columns else None,
         schema.notes.get(name), cost.get(title(name))]
        for name in worth[:1000]
    ]  # fmt: skip
    body = html.table(["column", "event model", "kind", "note", "worth (nats a row)"], lines)
    more = (
        f"All {len(worth):,} columns" if len(worth) <= 1000 else f"1,000 of {len(worth):,} columns"
    )
    return html.cards(drawn) + html.details(more, body)


def _drawn(subject: Subject, names: list[Name], cost: Mapping[str, float]) -> Iterator[str]:
    """Yield a card for each column: its densities or levels by class."""
    for i, name in enumerate(names):
        if name not in subject.model.schema.columns:
            continue
        view = subject.column(name)
        worth = cost.get(title(name))
        said = "" if worth is None else _worth(worth)
        yield f"<h3>{html.data(title(name))}</h3>" + html.figure(
            svg_of(view.plot(), f"column{i}", f"Column {title(name)} by class"), html.escaped(said)
        )


def _worth(nats: float) -> str:
    if abs(nats) < HARDLY:
        return "Without it the log loss hardly changes."
    return f"Without it the log loss grows by {nats:+.4f} nats a row."


def interactions(subject: Subject) -> str:
    """List the pairs of columns that have a say of their own."""
    pairs = dict.fromkeys(subject.model.schema.interactions)
    if subject.model.weights is not None:
        pairs |= dict.fromkeys(subject.model.weights.linear.pairs)
    if not pairs:
        return ""
    cost = subject.cost
    lines = [[name, cost.get(name)] for name in sorted(pairs, key=lambda n: -cost.get(n, 0.0))]
    return html.table(["pair of columns", "worth (nats a row)"], lines)


def rows(subject: Subject) -> str:
    """Show and explain the rows it was most sure, least sure and most wrong about."""
    shown = subject.shown
    if shown is None:
        return html.note(
            "There is no row to show: of the rows that were learned none is kept, or only the "
            "counts of its words. Give rows to see some explained."
        )
    said = html.note(f"These are {shown.source}.")
    cards = (
        f"<h3>{html.escaped(one.why)}: row {one.row}</h3>{text}" + _explained(explained, label)
        for one, label, explained, text in zip(
            shown.chosen, shown.labels, shown.explained, _texts(subject, shown), strict=True
        )
    )
    return said + html.cards(cards)


def _texts(subject: Subject, shown: ShownRows) -> list[str]:
    """Return the texts of each row that is shown."""
    names = [name for name, kind in subject.model.schema.kinds.items() if kind == "text"]
    columns = [shown.rows.values(name).tolist() for name in names if name in shown.rows.place]
    rows = zip(*columns, strict=True) if columns else [()] * len(shown.rows)
    return [
        "".join(f"<blockquote>{html.data(text)}</blockquote>" for text in row if text is not None)
        for row in rows
    ]


def _explained(row: ExplainedRow, label: object) -> str:
    c = row.best
    labels = row.classes.tolist()
    right = "" if label is None else f", and is {html.data(label)}"
    verdict = (
        f"<p>{html.data(labels[c])} with probability {row.probability(c):.4f}{right}. "
        f"Weights of evidence against {html.data(labels[row.rival(c)])}, in nats:</p>"
    )
    top = row.top(c)
    lines = [[column, value, html.Nats(of)] for column, value, of in top[:ITEMS]]
    if len(top) > ITEMS:
        rest = sum(weight for _, _, weight in top[ITEMS:])
        lines.append([f"{len(top) - ITEMS:,} more", None, html.Nats(rest)])
    lines.append(["log odds", None, html.Nats(row.log_odds(c))])
    return verdict + html.table(["column", "value", "weight"], lines)


def what_if(scorer: Scorer) -> str:
    """Let a reader change the cells of a row and see the posterior move."""
    if not scorer.columns:
        return html.note(scorer.why) if scorer.why else ""
    said = "Change the cells of a row, and see the probability of each class and its evidence move."
    if scorer.columns < scorer.read:
        said += f" These are the {scorer.columns} of {scorer.read:,} columns that are worth most."
    return (
        html.note(said)
        + '<p><label for="start">Start from</label> <select id="start"></select> '
        + '<button type="button" id="again">Start again</button></p>'
        + '<div id="moves"><div id="answer"><div id="posterior" role="status"></div>'
        + '<div id="why"><h3 id="against"></h3><table id="evidence" aria-labelledby="against">'
        + '<thead><tr><th scope="col">column</th><th scope="col">value</th><td></td>'
        + '<th scope="col" class="n">weight</th></tr></thead><tbody></tbody></table></div></div>'
        + '<div id="cells" role="group" aria-label="Cells of the row"></div></div>'
        + "<noscript><p>This part needs the page's program, which is switched off.</p></noscript>"
    )
