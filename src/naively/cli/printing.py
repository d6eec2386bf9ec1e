"""What a model has learned and predicts, printed for people on a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively.messages import visible

if TYPE_CHECKING:
    from rich.console import Console

    from naively.data.rows import Rows
    from naively.evaluation.scores import Scores
    from naively.model.explain import ExplainedRow
    from naively.model.model import Model
    from naively.schema.schema import Schema

WIDTH = 78  # columns, so that nothing is wrapped in a terminal of 80
SHOWN_CLASSES = 10
SHOWN_ITEMS = 6  # of an explanation
SHOWN_COLUMNS = 8  # have a line each; if there are more, each event model has a line
SURE = 0.999  # a greater probability would be shown as 100 %


def print_scores(console: Console, found: Scores, always: Scores, frequency: float) -> None:
    """Print the scores beside those of always answering the majority class.

    ``frequency`` is the share of that class in training, which is its probability then.
    """
    other = shortened(f"always {found.majority!r}", 28)
    wide = max(len(other), len("NaiveBayes()"))
    console.print(f"  {'':<{wide}}  accuracy  log loss  calibration error")
    error = abs(frequency - found.majority_accuracy)
    for name, style, of in (
        ("NaiveBayes()", "bold green", (found.accuracy, found.log_loss, found.calibration_error)),
        (other, "", (found.majority_accuracy, always.log_loss, error)),
    ):
        console.print(f"  {name:<{wide}}  {of[0]:8.3f}  {of[1]:8.3f}  {of[2]:17.3f}", style=style)


def print_columns(console: Console, schema: Schema) -> None:
    """Print the event model of each column; if there are many, the columns of each event model."""
    console.print("\n  What the columns were taken for", style="bold")
    if schema.width <= SHOWN_COLUMNS:
        for line in str(schema).splitlines():
            _print_wrapped(console, line)
        return
    names_of: dict[tuple[str, str], list[str]] = {}
    for name, group in schema.columns.items():
        names_of.setdefault((group.event.name, f"{group.kind}s"), []).append(str(name))
    for (event, kind), names in names_of.items():
        _print_wrapped(
            console, f"{event}  {len(names)} columns of {kind}: {', '.join(names)}", lines=2
        )
    unused = [str(name) for name in schema.order if name not in schema.columns]
    if unused:
        _print_wrapped(console, f"not learned  missing throughout: {', '.join(unused)}", lines=2)


def print_classes(console: Console, model: Model) -> None:
    """Print the items of greatest weight of evidence for each of the first classes."""
    from naively.model.strongest import strongest

    console.print("\n  What speaks most for each class", style="bold")
    labels = model.classes.tolist()
    wide = min(max(len(str(label)) for label in labels[:SHOWN_CLASSES]), 20)
    for c, label in enumerate(labels[:SHOWN_CLASSES]):
        items = (_item(column, value) for column, value, _ in strongest(model, c, SHOWN_ITEMS))
        line = f"    {shortened(label, wide):<{wide}}  {next(items, '')}"
        for item in items:
            if len(line) + len(item) + 2 <= WIDTH:
                line += f", {item}"
        console.print(shortened(line, WIDTH))
    if len(labels) > SHOWN_CLASSES:
        console.print(f"    and so on, for {len(labels) - SHOWN_CLASSES} more classes")


def print_row(console: Console, row: Rows, picture: list[str]) -> None:
    """Print the texts of a row, or its picture; the explanation shows the numbers."""
    for line in picture:
        console.print(f"      {line}".rstrip())
    for name in row.names:
        if row.kind(name) == "text":
            _print_wrapped(console, _plain(row.values(name)[0]), lines=2)


def print_explanation(console: Console, explained: ExplainedRow, right: object) -> None:
    """Print the prediction of a row, the contributions to its log odds, and their sum."""
    from rich.text import Text

    c = explained.best
    labels = explained.classes.tolist()
    answer, rival = shortened(repr(labels[c]), 20), shortened(repr(labels[explained.rival(c)]), 20)
    p = explained.probability(c)
    sure = f"over {SURE:.1%}" if p > SURE else f"{p:.1%}"
    verdict = "right" if labels[c] == right else f"wrong: it is {shortened(repr(right), 20)}"
    console.print(f"    {answer} with a probability of {sure} is {verdict}")
    every = explained.top(c)
    odds = float(explained.weights(c).sum())
    few = len(every) <= SHOWN_ITEMS + 1
    shown = every if few else every[:SHOWN_ITEMS]
    lines = [(weight, _item(column, value, exact=True)) for column, value, weight in shown]
    if not few:
        rest = sum(weight for _, _, weight in every[SHOWN_ITEMS:])
        lines.append((rest, f"{len(every) - SHOWN_ITEMS:,} others together"))
    for weight, item in lines:
        number = Text(f"    {weight:+8.2f}", style="green" if weight > 0 else "red")
        console.print(number + Text(shortened(f"  {item}", WIDTH - 12), style=""))
    console.print(f"    {odds:8.2f}  log odds of {answer} against {rival}", style="bold")


def _item(column: str, value: object, *, exact: bool = False) -> str:
    """Return an item of an explanation: a word, or a column with its level or number."""
    if value is None:
        return column
    if isinstance(value, float):
        return f"{column} {'=' if exact else 'near'} {value:,.10g}"
    return _plain(value) if column == "text" else f"{column} = {_plain(value)}"


def _print_wrapped(console: Console, text: str, lines: int = 3) -> None:
    import textwrap

    wrapped = textwrap.wrap(
        text, WIDTH, initial_indent="    ", subsequent_indent="      ", max_lines=lines,
        placeholder=" ...", drop_whitespace=True,
    )  # fmt: skip
    for line in wrapped:
        console.print(visible(line))


def _plain(value: object) -> str:
    return " ".join(str(value).split())


def shortened(value: object, width: int) -> str:
    """Return a text that is cut to a width, with escapes for what a terminal would obey."""
    text = visible(str(value))
    return text if len(text) <= width else f"{text[: width - 3]}..."
