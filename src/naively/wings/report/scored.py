"""How good the model is: by scores, thresholds and costs, calibration, confusion and subgroups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from naively.assess.intervals import beta_quantile
from naively.assess.scores import Scores, binned, equal_parts
from naively.counting.axis import Name, title
from naively.file.header import Saved
from naively.inspect.explain import ExplainedRow
from naively.kernels.reference import Floats
from naively.messages import amount, many, shortened, visible
from naively.model.class_prior import frequent
from naively.wings.pictures.axes import DRAWN, WRITTEN, most_confused
from naively.wings.report import curves, html
from naively.wings.report.curves import Ruler
from naively.wings.report.subject import ShownRows, Subject

SCORES = {  # of the table, and their names
    "accuracy": "accuracy",
    "accuracy of the most frequent class": "majority_accuracy",
    "log loss (nats per row)": "log_loss",
    "Brier score": "brier",
    "area under ROC": "auc",
    "calibration error": "calibration_error",
}
HEAD_OF_GROUPS = ["group", "rows", "right", "95 % interval", "says", "is"]
EqualBin = tuple[float, float, float, float, float]  # mean probability, share, its interval, rows
STEPS = 1000  # of a threshold, from 0 to 1
CLASSES = 30  # whose thresholds can be moved
BINS, LEAST = 10, 20  # bins of calibration, and rows of each at least
COLUMNS, LEVELS, GROUPS = 12, 8, 12  # whose subgroups are looked at; of each; that are shown
FEWEST = 20  # rows of a subgroup


def good(subject: Subject) -> str:
    """Say how good the model is: by cross-validation, and on rows that it never saw."""
    if subject.best is None:
        return ""
    decide = html.asset("decide.html") if len(subject.model.classes) > 1 else ""
    found = f'<div class="cards two">{decide}{calibration(subject)}</div>'
    of = every_scores(subject)
    table = html.table(["", *of], lines_of_scores(of))
    found += html.details("Scores, with their intervals", f'<div id="scores">{table}</div>')
    if len(subject.best.classes) > 1:
        found += html.details("Which classes are confused", _confusion(subject.best))
    groups = list(subgroups(subject))
    if groups:
        how = html.how_to_read(
            f"Groups of rows in which it is right more or less often than in all others, the most "
            f"significant first. “Says” is the mean probability of {subject.label}, and “is” its "
            "share of the rows. Where they differ, the probabilities are off for this group."
        )
        found += html.details(
            "For whom it is better or worse", how + html.table(HEAD_OF_GROUPS, groups)
        )
    return found


def _confusion(scores: Scores) -> str:
    """Return the confusion table with bars, or of many classes the pairs that are most confused."""
    table, names = np.asarray(scores.confusion, np.float64), [*map(str, scores.classes)]
    rows, small = table.sum(axis=1), len(names) > WRITTEN
    share = np.divide(table, rows[:, None], out=np.zeros_like(table), where=rows[:, None] > 0)
    if len(names) > DRAWN:
        pairs = most_confused(table)
        each = [(f"{names[i]} as {names[j]}", share[i, j], amount(table[i, j])) for i, j in pairs]
        return html.bars("Rows of a class with the answer of another; bars: the share of it.", each)
    form = "{1:.0%}" if small else "{0} ({1:.0%})"
    said = np.vectorize(lambda n, of: form.format(amount(n), of) if n else "")
    lines = [
        [f"{name} ({amount(n)})", *map(html.Bar, said(*of), of[1])]
        for name, n, *of in zip(names, rows, table, share, strict=True)
    ]
    how = html.how_to_read(
        "Rows by right class (down) and most probable class (across), and their share of the right "
        "class: wrong answers are off the diagonal."
    )
    found = html.table(["", *names], lines)
    return how + f'<div class="{"small" * small}" id="confusion">{found}</div>'


def every_scores(subject: Subject) -> dict[str, Scores]:
    """Return the scores of learned rows and of given ones, by what they are of."""
    of: dict[str, Scores] = {}
    if subject.assessment is not None:
        of["on learned rows, cross-validated"] = subject.assessment
    if subject.scores is not None:
        which = "on given rows, most of them learned" if subject.known else "on the rows given"
        of[which] = subject.scores
    return of


def lines_of_scores(of: Mapping[str, Scores]) -> list[list[object]]:
    """Return scores as lines of a table, with a column for each."""
    support = [s.support for s in of.values()]
    lines: list[list[object]] = [
        ["rows scored", *(s.rows for s in of.values())],
        ["of the rarest class",
         *(of and f"{many(of.rarest[1], 'row')} of class {of.rarest[0]}" for of in support)],
    ]  # fmt: skip
    for what, name in SCORES.items():
        known = [s for s in of.values() if name != "auc" or s.area_is_known]
        lines.append(
            [what, *(getattr(s, name) if s in known else "not known" for s in of.values())]
        )
        if any(name in s.shown for s in of.values()):
            ends = [
                "{:.3f} to {:.3f}".format(*s.shown[name]) if name in s.shown else None
                for s in of.values()
            ]
            lines.append([f"{what}: about 95 % interval", *ends])
    return lines


# --- A threshold that can be moved: what the page's program needs --------------------------------


def threshold_data(subject: Subject) -> Saved | None:
    """Return, for each class, how many rows have each probability of it; None without any."""
    # Probabilities are cut down to thousandths, so that the rows above a threshold of as many are
    # counted exactly. A line is the thousandths, the rows of the class and those of all others.
    judged, model = subject.judged, subject.model
    if judged is None or len(model.classes) < 2:
        return None
    some = frequent(model.counted.tally.class_count, CLASSES)
    each = []
    for c in some:
        at = np.floor(judged.p[:, c] * STEPS).astype(np.int64)
        inside = judged.weight * (judged.right == c)
        count = [np.bincount(at, w, STEPS + 1) for w in (inside, judged.weight - inside)]
        there = np.flatnonzero(count[0] + count[1])
        each.append([[int(i), *(round(float(of[i]), 6) for of in count)] for i in there])
    return {
        "names": [subject.said(c) for c in some],
        "start": some.index(subject.spoken_for) if subject.spoken_for in some else 0,
        "steps": STEPS,
        "each": each,
    }


# --- Calibration: bins of as many rows each, and how far chance would take them off --------------


def calibration(subject: Subject) -> str:
    """Show how far the probabilities can be believed."""
    found = calibrated(subject)
    if found is None:
        return ""
    (what, is_so), bins = found
    most = min(1.0, 1.1 * max(max(said, high) for said, _, _, high, _ in bins))  # of a rare class
    across = Ruler(0, most, curves.LEFT, curves.WIDTH - curves.RIGHT)
    up = Ruler(0, most, curves.HEIGHT - curves.BOTTOM, curves.TOP)
    ideal = curves.path(across([0, most]), up([0, most]))
    shapes = [f'<path class="missing" d="{ideal}"/>']
    for said, *true, _ in bins:
        x, (y, low, high) = float(across(said)), up(true).tolist()
        shapes.append(
            f'<path class="line" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'
            f'<circle class="for" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
        )
    label = f"Calibration: {is_so} against {what}"
    picture = curves.drawn(label, (what, is_so), across, up, *shapes)
    how = html.how_to_read(
        "Each point is an equal number of rows: the probability that the model gave, and the share "
        "that came true. The line through it is its 95 % interval. If it meets the diagonal, the "
        "probabilities can be believed."
    )
    figures = html.details("In figures", html.table(HEAD_OF_BINS, lines_of_bins(bins)))
    title = "<h3>Can its probabilities be believed?</h3>"
    card = f"{title}{how}{html.figure(picture)}{figures}"
    return f'<div class="card" id="calibration">{card}</div>'


HEAD_OF_BINS = ["said", "came true", "95 % interval", "rows"]


def lines_of_bins(bins: Sequence[EqualBin]) -> list[list[object]]:
    """Return the bins of calibration as lines of a table."""
    return [
        [f"{x:.1%}", f"{y:.1%}", f"{low:.1%} to {high:.1%}", round(n, 6)]
        for x, y, low, high, n in bins
    ]


def calibrated(subject: Subject) -> tuple[tuple[str, str], list[EqualBin]] | None:
    """Return the bins of calibration, with what was said and what came true, in words."""
    judged = subject.judged
    if judged is None:
        return None
    if len(subject.model.classes) == 2:
        said, hit = judged.p[:, subject.spoken_for], judged.right == subject.spoken_for
        names = f"probability of {subject.label}", f"share that is {subject.label}"
    else:
        said, hit = judged.p.max(axis=1), judged.p.argmax(axis=1) == judged.right
        names = "probability of the answer", "share that is right"
    return names, equal_bins(said, hit, judged.weight)


def equal_bins(said: Floats, hit: NDArray[np.bool_], weight: Floats) -> list[EqualBin]:
    """Return bins of about as many rows each: mean probability, share, its interval, rows."""
    # Rows of one probability are in one bin. The interval is Jeffreys's, of 95 %, of as many rows
    # as the weights amount to (Kish).
    n = max(1, min(BINS, len(said) // LEAST))
    return [
        (of.confidence, of.accuracy, *jeffreys(of.accuracy, of.size), round(of.rows))
        for of in binned(equal_parts(said, weight, n), said, hit, weight)
    ]


def jeffreys(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share of so many rows of equal weight."""
    a, b = share * n + 0.5, (1 - share) * n + 0.5
    low = 0.0 if share <= 0 else beta_quantile(0.025, a, b)
    return low, 1.0 if share >= 1 else beta_quantile(0.975, a, b)


# --- Subgroups: rows of one level, or of a third of the numbers, of each column ------------------


def subgroups(subject: Subject) -> Iterator[list[object]]:
    """Yield a line for each group of rows in which it is right more or less often than else."""
    judged, cells = subject.judged, subject.cells
    if judged is None or cells is None or len(subject.model.classes) < 2:
        return
    hit = judged.p.argmax(axis=1) == judged.right
    found = []
    for name in subject.worth[:COLUMNS]:
        for group, some in _groups(subject, name):
            if some.sum() >= FEWEST and (~some).sum() >= FEWEST:
                found.append((_distance(hit, judged.weight, some), group, some))
    found.sort(key=lambda of: -of[0])
    c = subject.spoken_for
    each = np.stack([hit, judged.p[:, c], judged.right == c])
    for _, group, some in found[:GROUPS]:
        w = judged.weight[some]
        if not w.any():
            continue
        share, says, so = np.average(each[:, some], axis=1, weights=w).tolist()
        low, high = jeffreys(share, float(w.sum() ** 2 / (w**2).sum()))
        yield [group, round(float(w.sum())), f"{share:.0%}", f"{low:.0%} to {high:.0%}",
               f"{says:.0%}", f"{so:.0%}"]  # fmt: skip


def _distance(hit: NDArray[np.bool_], weight: Floats, some: NDArray[np.bool_]) -> float:
    """Return how many standard errors a group's share is off that of all others."""
    a, b = weight[some], weight[~some]
    if not a.any() or not b.any():
        return 0.0
    share = float(np.average(hit, weights=weight))
    sizes = sum(float((w**2).sum() / w.sum() ** 2) for w in (a, b))
    apart = np.average(hit[some], weights=a) - np.average(hit[~some], weights=b)
    return abs(float(apart)) / float(np.sqrt(max(share * (1 - share), 1e-9) * sizes))


def _groups(subject: Subject, name: Name) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the groups that a column makes of the judged rows, each with its name."""
    cells, kind = subject.cells, subject.model.view.schema.kinds.get(name)
    assert cells is not None
    of = title(name)
    if kind in {"text", "time", None}:  # a column of which nothing was learned has no kind
        return
    if kind == "number":
        numbers = cells.numbers([name])[:, 0].astype(np.float64)
        missing, known = np.isnan(numbers), numbers[np.isfinite(numbers)]
        cuts = np.unique(np.quantile(known, [1 / 3, 2 / 3])) if len(known) else np.empty(0)
        which = np.searchsorted(cuts, numbers, side="left")
        for i in range(len(cuts) + 1):
            lower = f" above {cuts[i - 1]:.3g}" if i > 0 else ""
            upper = f" up to {cuts[i]:.3g}" if i < len(cuts) else ""
            yield f"{of}{lower}{upper}", (which == i) & ~missing
    else:
        values = np.array(
            [None if v is None else str(v) for v in cells.values(name).tolist()], object
        )
        missing = np.array([v is None for v in values])
        levels, count = np.unique(values[~missing].astype(str), return_counts=True)
        for level in levels[np.argsort(-count, kind="stable")[:LEVELS]].tolist():
            yield f"{of} = {shortened(visible(level), 40)}", values == level
    yield f"{of} is missing", missing


# --- Rows, and why they are answered so -----------------------------------------------------------


ITEMS = 8  # of an explanation


def rows(subject: Subject) -> str:
    """Show and explain the rows it was most sure, least sure and most wrong about."""
    shown = subject.shown
    if shown is None:
        return html.note(
            "There is no row to show: no learned row is kept, or only the counts of its words. "
            "Give rows to see explanations."
        )
    said = html.how_to_read(
        f"These are {shown.source}. Each line is the evidence of a cell for or against the answer. "
        "The lines sum to the log odds. Equal rows are shown once."
    )
    cards = (
        f"<h3>{html.escaped(one.why)}: row {one.row}</h3>{_explained(subject, explained, label)}"
        + _texts(subject, shown, i)
        + _lines(explained)
        for i, (one, label, explained) in enumerate(
            zip(shown.chosen, shown.labels, shown.explained, strict=True)
        )
    )
    return said + html.cards(cards)


def _explained(subject: Subject, row: ExplainedRow, label: object) -> str:
    c, labels, against = row.best, row.classes.tolist(), ""
    right = "" if label is None else f", and it is {html.data(label)}"
    if len(labels) > 1:
        against = f" Weights of evidence against {html.data(labels[row.rival(c)])}, in nats:"
    return (
        f"<p>It says {html.escaped(subject.said(c))} with probability "
        f"{row.probability(c):.3f}{right}.{against}</p>"
    )


def _lines(row: ExplainedRow) -> str:
    """Return the lines of an explanation, those of the greatest weight first, and their sum."""
    c, total = row.best, row.log_odds(row.best)
    lines = row.top(c)
    rest = sum(weight for _, _, weight in lines[ITEMS:])
    lines[ITEMS:] = [(f"{len(lines) - ITEMS:,} more", None, rest)] * (len(lines) > ITEMS)
    lines.append(("log odds", None, total))
    most = max((abs(weight) for *_, weight in lines if math.isfinite(weight)), default=0.0)
    return html.table(
        ["column", "value", "weight"],
        [
            [column, shortened(of, 60) if isinstance(of, str) else of, html.nats(weight, most)]
            for column, of, weight in lines
        ],
    )


def _texts(subject: Subject, shown: ShownRows, i: int) -> str:
    """Return the beginnings of a row's texts; their words are marked where cells can be moved."""
    kinds, rows = subject.model.view.schema.kinds, shown.rows
    texts = (rows.values(of)[i] for of in kinds if kinds[of] == "text" and of in rows.place)
    words = (
        of if isinstance(of, str) else " ".join(map(str, of)) for of in texts if of is not None
    )
    return "".join(f"<blockquote>{html.data(text)}</blockquote>" for text in words)
