"""What the columns say: how much each is worth, what it adds, and what several add together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from naively.counting.axis import Name, title
from naively.data.columns import EPOCH
from naively.fitting.covariance import WeightsCovariance, weights_covariance
from naively.inspect.column import column_view
from naively.inspect.effect import Effect, effect
from naively.inspect.odds import strongest, written
from naively.inspect.rules import rules_of
from naively.inspect.uncertainty import FEWEST
from naively.messages import many, shortened, visible
from naively.model.class_prior import frequent
from naively.wings.pictures.axes import of_target
from naively.wings.report import curves, html
from naively.wings.report.curves import HEIGHT, LEFT, RIGHT, TOP, WIDTH, Ruler
from naively.wings.report.html import svg_of
from naively.wings.report.subject import Subject

OPEN = 3  # columns that are drawn before anything is unfolded
COLUMNS = 24  # that are drawn
BARS = 12  # of importance, before anything is unfolded
NAMED = 4  # columns that repeat each other
WORDS = 12  # of each class
CLASSES = 30  # that are described one by one
LETTERS = 16  # of the name of a level below its bar
ITEMS = 10  # rules
ROWS_HIGH = 26  # of the box, that the rows below a curve take
LEAST_HEIGHT = 0.5  # nats, on either side of 0: what is less looks like little
MOST_HEIGHT = 6.0  # nats, at which an axis ends
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
    for i, name in enumerate(names):
        group = subject.model.view.schema.columns.get(name)
        if group is not None and group.kind != "text":  # of these its words are listed
            batches = [] if subject.sample is None else subject.sample.batches
            view, what = column_view(subject.model, name, batches), title(name)
            with of_target(subject.target):
                ax = view.plot()
            picture = svg_of(ax, f"column{i}", f"Column {what} by class")
            yield f"<h3>{html.data(what)}</h3>{html.figure(picture)}"


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
        picture = html.figure(draw_effect(found), html.escaped(said))
        yield f"<h3>{html.data(found.column)}</h3>{picture}{_table(found)}"


def _covariance(subject: Subject) -> WeightsCovariance | None:
    """Return how sure the weights are; None if they count as known."""
    model, sample = subject.model, subject.sample
    few = model.weights is None or model.view.rows.sum() < FEWEST
    return None if few or sample is None else weights_covariance(model, sample)


def _table(of: Effect) -> str:
    """Return the weights of levels in figures; the curve of numbers is no table."""
    if len(of.at) or not of.values:
        return ""
    low, high = of.band
    rows = [*map(round, of.rows.tolist()), *[None] * (len(of.values) - len(of.rows))]
    lines = [
        [
            shortened(visible(written(value)), 40),
            html.Nats(weight),
            f"{a:+.2f} to {b:+.2f}" if np.isfinite(a) else None,
            n,
        ]
        for value, weight, a, b, n in zip(
            of.values, of.weight.tolist(), low.tolist(), high.tolist(), rows, strict=True
        )
    ]
    if of.more:
        lines.append([f"{of.more:,} more levels", None, None, None])
    head = ["value", "weight", "95 % band", "rows"]
    return html.details("In figures", html.table(head, lines))


def draw_effect(of: Effect) -> str:
    """Return the picture of what a column adds: a curve of numbers, or a bar for each level."""
    low, high = of.band
    ends = np.concatenate([of.weight, low, high])
    ends = np.clip(ends[np.isfinite(ends)], -MOST_HEIGHT, MOST_HEIGHT)
    least = min(-LEAST_HEIGHT, float(ends.min(initial=0.0)))
    most = max(LEAST_HEIGHT, float(ends.max(initial=0.0)))
    up = Ruler(least, most, HEIGHT - curves.BOTTOM - ROWS_HIGH, TOP)
    return _curve(of, up) if len(of.at) else _bars(of, up)


def _curve(of: Effect, up: Ruler) -> str:
    """Return the curve of numbers with its band, and the rows as bars below."""
    n, base = len(of.at), HEIGHT - curves.BOTTOM
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
    words = _dates(of, across) if isinstance(of.values[0], np.datetime64) else []
    axes = curves.axes(across, up, (visible(of.column), "weight (nats)"), words)
    return curves.drawn(f"What {of.column} adds, by its value", axes, *shapes)


def _dates(of: Effect, across: Ruler) -> list[tuple[float, str]]:
    """Return where dates are written."""
    some = np.linspace(of.at[0], of.at[-1], 4)[:-1] + (of.at[-1] - of.at[0]) / 6
    days = EPOCH + (some * 1e6).astype("timedelta64[us]")
    names = [str(day.astype("datetime64[D]")) for day in days]
    return list(zip(across(some).tolist(), names, strict=True))


def _bars(of: Effect, up: Ruler) -> str:
    """Return a bar for each level with its band, and the rows as bars below."""
    n, base = len(of.values), HEIGHT - curves.BOTTOM
    step = (WIDTH - RIGHT - LEFT) / max(n, 1)
    wide, (low, high) = 0.6 * step, of.band
    zero, most = float(up(0.0)), max(float(of.rows.max(initial=0.0)), 1e-300)
    shapes, words = [], []
    for i, value in enumerate(of.values):
        x, y = LEFT + (i + 0.5) * step, float(up(of.weight[i]))
        side = "for" if y <= zero else "against"
        shapes.append(
            f'<rect class="{side}" x="{x - wide / 2:.1f}" y="{min(y, zero):.1f}" '
            f'width="{wide:.1f}" height="{abs(y - zero):.1f}"/>'
        )
        if np.isfinite(of.deviation[i]):
            a, b = float(up(low[i])), float(up(high[i]))
            shapes.append(f'<path class="line" d="M{x:.1f} {a:.1f}V{b:.1f}"/>')
        if i < len(of.rows):
            tall = float(of.rows[i]) / most * ROWS_HIGH
            shapes.append(
                f'<rect class="rows" x="{x - wide / 2:.1f}" y="{base - tall:.1f}" '
                f'width="{wide:.1f}" height="{tall:.1f}"/>'
            )
        words.append((x, shortened(visible(written(value)), LETTERS)))
    axes = curves.axes(up, up, (visible(of.column), "weight (nats)"), words)
    what = f"What {of.column} adds, by its level"
    return curves.drawn(what, axes, *shapes, slant=curves.are_long(words))


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
        said = [[conditions, label, html.Nats(weight)] for conditions, label, weight in rules]
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
            html.cell(html.Nats(weight)),
        )
        for column, value, weight in items
    ]
    what = html.escaped(f"Speaks for {subject.said(c)}")
    return [f"<h3>{what}</h3>{html.bars(SPOKEN_IN, bars)}"] if bars else []


def _plain(value: object) -> str:
    return html.number(value) if isinstance(value, float) else str(value)
