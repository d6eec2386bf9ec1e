"""What the columns say: how much each is worth, what it adds, and what several add together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np

from naively.counting.axis import Name, title
from naively.data.columns import EPOCH
from naively.fitting.covariance import WeightsCovariance, weights_covariance
from naively.inspect.column import LevelView, NumberView, column_view
from naively.inspect.effect import Effect, effect
from naively.inspect.odds import strongest, written
from naively.inspect.rules import rules_of
from naively.inspect.uncertainty import FEWEST
from naively.messages import many, shortened, visible
from naively.model.class_prior import frequent
from naively.wings.pictures.axes import MOST
from naively.wings.pictures.by_class import drawn, levels_of, seconds
from naively.wings.report import curves, html
from naively.wings.report.curves import HEIGHT, LEFT, RIGHT, TOP, WIDTH, Ruler
from naively.wings.report.subject import Subject

OPEN = 3  # columns that are drawn before anything is unfolded
COLUMNS = 24  # that are drawn
BARS = 12  # of importance, before anything is unfolded
NAMED = 4  # columns that repeat each other
WORDS = 12  # of each class
CLASSES = 30  # that are described one by one
LETTERS = 24  # of the name of a class beside its density
ITEMS = 10  # rules
ROWS_HIGH = 26  # of the box, that the rows below a curve take
LEAST_HEIGHT = 0.5  # nats, on either side of 0: what is less looks like little
MOST_HEIGHT = 6.0  # nats, at which an axis ends
DASHES = "none", "6 3", "8 2 2 2", "2 2", "10 2", "5 1 1 1 1 1", "1 1", "12 3"
ROW, BESIDE = 14, 150  # of the box, that a class of many takes, and its name
REPEATED = ", which repeat each other"
CURVES = html.how_to_read(
    "Each curve shows what a value of the column adds to the log odds of a class: above 0 it is "
    "evidence for the class, below 0 against it, and +0.7 doubles the odds. The band holds "
    "95 % of such curves, each a mean over fits to as many rows. The grey bars are the rows."
)
SPOKEN_IN = "Its weight of evidence against all other classes together, in nats."


def importance_bars(subject: Subject, n: int) -> tuple[str, int]:
    """Return bars of the n columns that matter most, and how many there are in all."""
    what = "Share of what the model explains that is lost without the column."
    if not subject.lost:
        what = "Share of the spread of the weights of evidence of all columns between rows."
    lines = subject.shares
    top = max((share for _, share in lines), default=0.0) or 1.0
    shown = [
        (
            html.listed(names, NAMED) + REPEATED * (len(names) > 1),
            share / top,
            f"{html.of_100(share)} %",
        )
        for names, share in lines[:n]
    ]
    return html.bars(what, shown), len(lines)


def columns(subject: Subject) -> str:
    """Draw what each column adds, those that are worth most first, after their worth as bars."""
    bars, there = importance_bars(subject, BARS)
    of_classes = _of_classes(subject) if len(subject.model.classes) > 1 else ""
    return bars * (there > OPEN) + of_classes + _together(subject) + _all(subject)


def _of_classes(subject: Subject) -> str:
    """Draw what columns add for a class, and what speaks for it; of several a reader chooses."""
    model, covariance = subject.model, _covariance(subject)
    names = [name for name in subject.worth[:COLUMNS] if name in model.view.schema.columns]
    count = model.counted.tally.class_count
    drawn = list(_effects(subject, subject.spoken_for, names, covariance))
    found = CURVES if drawn else ""
    if len(count) == 2:
        spoken = html.cards(_spoken(subject, 0) + _spoken(subject, 1))
        is_text = "text" in model.view.schema.kinds.values()
        found += html.cards(drawn[:OPEN])
        if spoken:
            found += spoken if is_text else html.details("What speaks for each class", spoken)
    else:
        each = {
            c: [*_effects(subject, c, names[: OPEN - 1], covariance), *_spoken(subject, c)]
            for c in frequent(count, CLASSES)
        }
        bodies = {subject.said(c): html.cards(cards) for c, cards in each.items() if cards}
        found += html.chooser("Class", bodies, subject.label)
    if drawn[OPEN:]:
        more = f"{len(drawn) - OPEN} more columns, for {subject.label}"
        found += html.details(more, html.cards(drawn[OPEN:]))
    return found


def _all(subject: Subject) -> str:
    """Return the table of all columns, and pictures of them by class."""
    model, worth = subject.model, subject.worth
    lost = {name: f"{html.of_100(share)} %" for name, share in subject.lost.items()}
    schema = model.described()
    lines = [
        [title(name), str(schema.columns[name].event) if name in schema.columns else "not learned",
         schema.columns[name].kind if name in schema.columns else None,
         schema.said_of(name), lost.get(title(name))]
        for name in worth[:1000]
    ]  # fmt: skip
    named = f"{len(lines):,} of {many(len(worth), 'column')}"
    found = html.details(
        named, html.table(["column", "event model", "kind", "note", "lost without it"], lines)
    )
    pictures = html.cards(_pictures(subject, worth[:COLUMNS]))
    if pictures:
        how = html.how_to_read(
            "What was counted: the density of the numbers of each class, or the share of each "
            "level in it, before any weight."
        )
        found += html.details("Each column by class", how + pictures)
    return found


def _pictures(subject: Subject, names: list[Name]) -> Iterator[str]:
    """Yield a card for each column: its densities or levels by class."""
    for name in names:
        group = subject.model.view.schema.columns.get(name)
        if group is not None and group.kind != "text":  # of these its words are listed
            batches = [] if subject.sample is None else subject.sample.batches
            view, what = column_view(subject.model, name, batches), title(name)
            found = ""
            match view:
                case NumberView():
                    found = _densities(subject, view)
                case LevelView():
                    found = _levels(subject, view)
            yield f"<h3>{html.data(what)}</h3>{found}"


def _densities(subject: Subject, view: NumberView) -> str:
    """Return the densities of numbers by class; those of many stand one above the other."""
    many, (view, top, along) = len(view.classes) > MOST, drawn(view)
    n, names = len(view.classes), [*map(subject.named, view.classes)]
    x, edges = seconds(view.x), seconds(view.edges)
    low, high = float(min(x[0], edges[0])), float(max(x[-1], edges[-1]))
    bend = low if view.log else math.inf
    across = Ruler(low, high, BESIDE if many else LEFT, WIDTH - RIGHT, bend)
    base, places = HEIGHT - curves.BOTTOM, [(HEIGHT - curves.BOTTOM, TOP)] * n
    if many:
        base = TOP + ROW * (n + 1)
        places = [(y, y - 2 * ROW) for y in range(TOP + 2 * ROW, base + 1, ROW)]
    at, sides, shapes, beside, key = across(x), across(np.repeat(edges, 2)), [], [], ""
    for i, (place, name, density) in enumerate(zip(places, names, view.density.T, strict=True)):
        up, c = Ruler(0, 1.05 * top or 1.0, *place), 0 if many else i
        look = f'style="--c:var(--c{c});--d:{DASHES[c]}"'
        key += (
            '<span class="key"><svg class="curve" role="img" aria-label="line" viewBox="0 0 28 8">'
            f'<path class="line" {look} d="M0 5H28"/></svg> {html.escaped(name)}</span> '
        )
        beside += [(up.begin, shortened(name, LETTERS))] * many
        if (bars := view.density if many else view.observed) is not None:
            area = curves.path(sides, up(np.pad(np.repeat(bars[:, i], 2), 1)))
            shapes.append(f'<path class="band" {look} d="{area}"/>')
        if view.stepped:
            line = curves.path(sides[1:-1], up(np.repeat(density, 2)))
        elif view.counts:
            x = at + min(3.0, 0.6 * np.ptp(at) / len(at) / n) * (i - (n - 1) / 2)
            ends = list(zip(x.tolist(), up(density).tolist(), strict=True))
            line = "".join(f"M{a:.1f} {base}V{b:.1f}" for a, b in ends)
            dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in ends)
            shapes.append(f'<path class="line dots" {look} d="{dots}"/>')
        else:
            line = curves.path(at, up(density))
        shapes.append(f'<path class="line" {look} d="{line}"/>')
    words = _dates(across) if view.edges.dtype.kind == "M" else []
    labels = visible(view.column), "" if many else along
    picture = curves.drawn(
        f"Column {view.column} by class", labels, across, up, *shapes,
        words=words, beside=beside, base=base,
    )  # fmt: skip
    return key * (not many) + html.figure(picture, html.escaped("; ".join(view.notes)))


def _levels(subject: Subject, view: LevelView) -> str:
    """Return the shares of levels by class as bars, with marks at what was counted."""
    shown, first, notes = levels_of(view)
    p, counted = view.p[first][:, shown], view.share[first][:, shown]
    top = max(p.max(initial=0.0), counted.max(initial=0.0)) or 1.0
    lines = [
        [shortened(visible(written(view.levels[i])), 40),
         *(html.Bar(f"{html.of_100(a * top)} %", a, 0.0, b, b) for a, b in zip(*of, strict=True))]
        for i, *of in zip(first, p / top, counted / top, strict=True)
    ]  # fmt: skip
    said = "; ".join([f"{view.what} (mark: as counted)", *notes])
    return html.table(["", *map(subject.said, shown)], lines) + html.note(said)


# --- What a column adds: its weights of evidence, with their band, over the rows -----------------


def _effects(
    subject: Subject, c: int, names: Sequence[Name], covariance: WeightsCovariance | None
) -> Iterator[str]:
    """Yield a card for each column: what it adds for class c, and what it is worth."""
    batches = [] if subject.sample is None else subject.sample.batches
    for name in names:
        found = effect(subject.model, name, c, batches, covariance)
        if found is None:
            continue
        said = ""
        for several, share in subject.shares if subject.lost else []:
            if found.column in several:
                which = html.listed(several, NAMED) if len(several) > 1 else "it"
                said = f"Without {which} {html.of_100(share)} % of what the model explains is lost."
        picture = html.figure((_curve if len(found.at) else _weights)(found), html.escaped(said))
        yield f"<h3>{html.data(found.column)}</h3>{picture}"


def _covariance(subject: Subject) -> WeightsCovariance | None:
    """Return how sure the weights are; None if they count as known."""
    model, sample = subject.model, subject.sample
    few = model.weights is None or model.view.rows.sum() < FEWEST
    return None if few or sample is None else weights_covariance(model, sample)


def _weights(of: Effect) -> str:
    """Return the weights of levels as bars on either side of 0 with their bands, and the rows."""
    each = np.stack([of.weight, *of.band])
    half = min(MOST_HEIGHT, abs(each[np.isfinite(each)]).max(initial=LEAST_HEIGHT))
    most = of.rows.max(initial=0.0) or 1.0
    rows = [html.Bar(f"{n:,.0f}", n / most) for n in of.rows.tolist()]
    lines = [
        [shortened(visible(written(value)), 40), html.nats(weight, half, low, high),
         f"{low:+.2f} to {high:+.2f}" if np.isfinite(low) else None, n]
        for value, (weight, low, high), n in zip_longest(of.values, each.T.tolist(), rows)
    ]  # fmt: skip
    lines += [[f"{of.more:,} more levels", None, None, None]] * (of.more > 0)
    return html.table(["value", "weight (nats)", "95 % band", "rows"], lines)


def _curve(of: Effect) -> str:
    """Return the curve of numbers with its band, and the rows as bars below."""
    n, base, ends = len(of.at), HEIGHT - curves.BOTTOM, np.concatenate([of.weight, *of.band])
    ends = np.clip(ends[np.isfinite(ends)], -MOST_HEIGHT, MOST_HEIGHT)
    least, most = ends.min(initial=-LEAST_HEIGHT), ends.max(initial=LEAST_HEIGHT)
    up = Ruler(float(least), float(most), base - ROWS_HIGH, TOP)
    across = curves.scale_of(float(of.at[0]), float(of.at[-1]), of.rows, of.edges)
    x, low, high = across(of.at), *(up(np.nan_to_num(end[:n])) for end in of.band)
    shapes = []
    if len(of.rows) and of.rows.max() > 0:
        left, tall = across(of.edges), of.rows / of.rows.max() * ROWS_HIGH
        boxes = [
            f"M{a:.1f} {base}V{base - t:.1f}H{b:.1f}V{base}"
            for a, b, t in zip(left[:-1], left[1:], tall, strict=True)
            if t > 0
        ]
        shapes.append(f'<path class="rows" d="{"".join(boxes)}"/>')
    if np.isfinite(of.deviation[:n]).all():
        band = np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])
        shapes.append(f'<path class="band" d="{curves.path(*band)}Z"/>')
    shapes.append(f'<path class="line" d="{curves.path(x, up(of.weight[:n]))}"/>')
    if len(of.values) > n:
        y = float(up(of.weight[n]))
        shapes.append(
            f'<path class="missing" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            f'<text x="{WIDTH - RIGHT}" y="{y - 3:.1f}" text-anchor="end">missing</text>'
        )
    words = _dates(across) if isinstance(of.values[0], np.datetime64) else []
    what, labels = f"What {of.column} adds, by its value", (visible(of.column), "weight (nats)")
    return curves.drawn(what, labels, across, up, *shapes, words=words)


def _dates(across: Ruler) -> list[tuple[float, str]]:
    """Return where dates are written."""
    some = np.linspace(across.low, across.high, 4)[:-1] + (across.high - across.low) / 6
    days = EPOCH + (some * 1e6).astype("timedelta64[us]")
    names = [str(day.astype("datetime64[D]")) for day in days]
    return list(zip(across(some).tolist(), names, strict=True))


# --- What several columns say together, and what speaks for each class ---------------------------


def _together(subject: Subject) -> str:
    """List the columns that have a say of their own together: pairs as such, and rules."""
    weights, lost = subject.model.weights, subject.lost
    names = [] if weights is None else list(weights.linear.together)
    names.sort(key=lambda name: -lost.get(name, 0.0))
    lines = [[name, f"{html.of_100(lost[name])} %" if lost else None] for name in names]
    if not lines:
        return ""
    found = html.how_to_read(
        "What these columns add together, beyond what each adds alone. A rule adds its weight to "
        "the class that it names in rows where all its conditions hold."
    )
    found += html.table(["columns", "lost without them"], lines)
    rules = rules_of(subject.model).strongest(ITEMS)
    if rules:
        most = max(abs(weight) for *_, weight in rules)
        said = [[what, label, html.nats(weight, most)] for what, label, weight in rules]
        found += html.table(["rule", "speaks for", "weight (nats)"], said)
    return html.details(f"What {len(lines)} sets of columns say together", found)


def classes(subject: Subject) -> str:
    """Describe each class: its share, its scores and what speaks most for it."""
    model = subject.model
    count, labels = model.counted.tally.class_count, model.classes.tolist()
    best = subject.best
    order = sorted(range(len(labels)), key=lambda c: -count[c])
    lines = []
    for c in order[:CLASSES]:
        none = (None, None, None)
        of = none if best is None else best.by_class.get(labels[c], none)
        lines.append([str(labels[c]), float(count[c]), float(count[c] / count.sum()), *of[:2]])
    head = [subject.target or "class", "rows learned", "share", "precision", "recall"]
    found = html.how_to_read(
        "Precision: the share of the rows with this answer that are of the class. Recall: the "
        "share of the rows of the class that get this answer."
    )
    found += html.table(head, lines)
    if len(labels) > CLASSES:
        found += html.note(f"These are the {CLASSES} most frequent of {len(labels):,} classes.")
    return found


def _spoken(subject: Subject, c: int) -> list[str]:
    """Return a card with bars of what speaks for a class; none if nothing does."""
    items = sorted(strongest(subject.model, c, WORDS), key=lambda item: -item[-1])
    top = max((w for *_, w in items if np.isfinite(w)), default=1.0) or 1.0
    one = len({column for column, *_ in items}) == 1 and items[0][1] is not None
    bars = [
        (
            column if value is None else _plain(value) if one else f"{column}: {_plain(value)}",
            weight / top,
            f"{weight:+.3f}",
        )
        for column, value, weight in items
    ]
    what = html.escaped(f"Speaks for {subject.said(c)}")
    return [f"<h3>{what}</h3>{html.bars(SPOKEN_IN, bars)}"] if bars else []


def _plain(value: object) -> str:
    return html.number(value) if isinstance(value, float) else str(value)
