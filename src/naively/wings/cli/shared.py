"""What the verbs share: data and models that are read, answers that are written and printed."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from naively.frozen import Frozen
from naively.messages import OBEYED, say, visible
from naively.options import means_copies, number_of
from naively.progress import with_progress
from naively.tabular import Tabular, are_numbers, json_value
from naively.wings.cli.options import AS_FOUND, Format, HowRead
from naively.wings.mail.layout import is_of_mail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from naively.assess.scores import Scores
    from naively.counting.axis import Name
    from naively.counting.labels import LabelArray
    from naively.data.columns import ColumnRows, Reading, Rows
    from naively.data.stream import Stream
    from naively.estimators.naive_bayes import NaiveBayes
    from naively.file.header import Saved
    from naively.file.parts import SampledRows
    from naively.file.store import Content
    from naively.inspect.explain import ExplainedRow
    from naively.model.model import History, Model
    from naively.schema.schema import Schema
    from naively.wings.files.reader import Said

# --- The models in files ------------------------------------------------------------------------


def load(path: str) -> Content:
    """Return what a model file holds."""
    from naively.file import store

    return store.load_all(path)


def estimator_of(
    model: Model, sample: SampledRows | None = None, history: History | None = None
) -> NaiveBayes:
    """Return an estimator of a model, with the rows and the history that it has."""
    from naively.estimators.naive_bayes import NaiveBayes

    return NaiveBayes._of_model(model, sample, history)


def all_of_mail(paths: Sequence[str]) -> bool:
    """Whether files are models of mail; an error if only some are."""
    found = [is_of_mail(path) for path in paths]
    if any(found) and not all(found):
        mail, other = paths[found.index(True)], paths[found.index(False)]
        raise ValueError(f"{mail} is the model of a mail filter, and {other} is not.")
    return all(found)


# --- DATA on the command line becomes rows and labels --------------------------------------------


UNITS = {"mb": 10**6, "gb": 10**9, "tb": 10**12, "mib": 2**20, "gib": 2**30, "tib": 2**40}
LEAST = 300 * 10**6  # bytes that can be asked for
OWN = 200 * 10**6  # of them, about what Python, the libraries and a model take
FOLDER_TARGET = "label"


class Data(Frozen, eq=True):
    """DATA, and what of it is read."""

    path: str  # a file, a folder, or "-", standard input
    how: HowRead = AS_FOUND  # how it is read, as far as it does not tell itself
    columns: Sequence[str] | None = None  # the columns to read; by default all
    ignore: Sequence[str] = ()  # columns that are not read
    labels: str | None = None  # the column that holds labels, which are read as they are written

    def read(
        self, types: Mapping[str, str | Reading] | None = None, said: Said | None = None
    ) -> ColumnRows:
        """Return all rows, of these types where they are given, and say what was repaired."""
        from naively.wings import files

        table = files.read(self.path, types=types, said=said, **self._options)
        for note in table.notes:
            say(note)
        return table.rows

    @contextmanager
    def opened(self, types: Mapping[str, str | Reading] | None = None) -> Iterator[Stream]:
        """Open the table, whose rows are read in batches; what was repaired is said at the end."""
        from naively.wings import files

        with files.opened(self.path, types=types, **self._options) as table:
            table.watch = lambda batches: with_progress(batches, "rows", len, table.total)
            yield table
            for note in table.notes:
                say(note)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "ignore": self.ignore,
            "format": self.how.format,
            "labels": self.labels,
            "file": self.how.file,
            "memory": None if self.how.memory is None else size_of(self.how.memory) - OWN,
        }


def size_of(limit: str) -> int:
    """Return --memory-limit in bytes."""
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", limit.lower())
    if written is None or written[2] not in UNITS:
        raise ValueError(f"--memory-limit must be a size such as 400MB or 2GB, got {limit!r}.")
    size = int(float(written[1]) * UNITS[written[2]])
    if size < LEAST:
        raise ValueError(
            f"--memory-limit must be at least {LEAST // 10**6}MB, most of which Python and its "
            f"libraries take; got {limit!r}."
        )
    return size


def types_for(
    model: Model, target: str | None, *, learns: bool = False
) -> dict[str, str | Reading]:
    """Return the types that the columns of DATA have for a model, its target among them."""
    types: dict[str, str | Reading] = {
        str(name): "string" if kind == "text" else kind
        for name, kind in model.view.schema.kinds.items()
    }
    readings = model.view.schema.readings
    types |= {str(n): of if learns else of.fixed for n, of in readings.items()}
    if target is not None and all(isinstance(label, str) for label in model.classes.tolist()):
        types[target] = "string"
    return types


def known_to(model: Model, rows: Rows, target: str | None) -> Rows:
    """Return the rows without the columns that a model has not learned, unless it knows none."""
    learned = set(map(str, model.view.schema.order))
    rest = [name for name in rows.names if name != target]
    return rows.select([name for name in rest if name in learned] or rest)


def rows_for(
    model: Model, data: str, how: HowRead, target: str | None, *, learns: bool = False
) -> tuple[Rows, ColumnRows]:
    """Return the rows of DATA as a model expects them, and all columns that were read."""
    table = Data(data, how, labels=target).read(types_for(model, target, learns=learns))
    return known_to(model, table, target), table


def labelled_rows_for(
    model: Model, data: str, how: HowRead, target: str | None
) -> tuple[Rows, LabelArray]:
    """Return the rows of DATA as a model expects them, and their labels of shape (rows,)."""
    rows, table = rows_for(model, data, how, target)
    return rows, labels_of(model, table, target, data)


def labels_of(model: Model, table: Rows, target: str | None, data: str) -> LabelArray:
    """Return the labels of a table as a model has them, of shape (rows,)."""
    from naively.counting.labels import as_classes

    labels = table.values(find_target(list(map(str, table.names)), target, data))
    return as_classes(labels, model.classes)


def names(listed: str | None) -> list[str] | None:
    """Split a list of names at commas."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def pairs(given: str, option: str) -> dict[str, str]:
    """Return what name=value pairs say, each name once."""
    found: dict[str, str] = {}
    for part in given.split(","):
        name, separator, value = (side.strip() for side in part.partition("="))
        if not separator:
            raise ValueError(f"{option} needs name=value pairs split by commas; got {part!r}.")
        if name in found:
            raise ValueError(f"{option} names {name!r} twice; give it once.")
        found[name] = value
    return found


def numbers_by_name(given: str, option: str) -> dict[str, float]:
    """Return the numbers that name=number pairs say."""
    found = {name: number_of(value) for name, value in pairs(given, option).items()}
    if None in found.values():
        raise ValueError(f"{option} needs numbers, as in a=0.3,b=0.7; got {given!r}.")
    return {name: number for name, number in found.items() if number is not None}


def find_target(columns: Sequence[str], target: str | None, data: str) -> str:
    """Return the target column, or raise a ValueError that says which columns there are."""
    if target is None:
        raise ValueError(
            f"Which column of {data} holds the labels? Say --target COLUMN; "
            f"the columns are {', '.join(map(repr, columns))}."
        )
    if target not in columns:
        raise ValueError(f"{data}: {_missing(target, columns, 'target column')}")
    return target


def _missing(name: str, names: Sequence[Name], what: str) -> str:
    from naively.data.columns import missing_column

    return missing_column(name, names, what)


def folder_target(data: str) -> str | None:
    """Return the name of the column of labels if DATA is a folder of texts."""
    return FOLDER_TARGET if Path(data).is_dir() else None


def read_labelled(
    data: str,
    target: str | None,
    how: HowRead,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
) -> tuple[Rows, LabelArray, str]:
    """Return the rows of DATA, their labels, and the name of the column of labels."""
    target = target or folder_target(data)
    table = Data(data, how, columns, ignore, labels=target).read()
    name = find_target(list(map(str, table.names)), target, data)
    rows, _ = table.split(name)
    if not len(rows):
        raise ValueError(f"{data} has no rows to learn from.")
    return rows, table.values(name), name


def digest_of(data: str) -> str:
    """Return a digest of the bytes of all files at a path; "" of what can be read once only."""
    from naively.wings.files.reader import files_at

    every = files_at(Path(data)) or [Path(data)]
    if not all(path.is_file() for path in every):
        return ""
    digest = hashlib.sha256()
    for path in every:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def column_of(table: Rows, name: str, what: str) -> LabelArray | str:
    """Return a column that an option names, or raise a ValueError that says which there are."""
    if means_copies(what, name):
        return name
    if name not in table.names:
        raise ValueError(f"--{what}: {_missing(name, table.names, f'column of {what}')}")
    return table.values(name)


def set_aside(provenance: Saved, table: Rows) -> NDArray[np.bool_] | None:
    """Mark the rows that were held out of the file that a model was trained on."""
    # None: none were, or this file has another number of rows.
    part, name = provenance.get("hold_out", 0.0), provenance.get("groups")
    target = provenance.get("target")
    if not part or len(table) != provenance.get("rows"):
        return None
    return held_out(len(table), part, provenance.get("seed", 0), groups_of(table, name, target))


def groups_of(table: Rows, name: str | None, target: str | None) -> NDArray[np.uint64] | None:
    """Return the number of each row's group that an option names; None if it names none."""
    import numpy as np

    from naively.counting.labels import Labels, encode_groups
    from naively.schema.choose import infer, read_as_given

    if name is None:
        return None
    if not means_copies("groups", name):
        return encode_groups(column_of(table, name, "groups"), len(table))
    rows = read_as_given(table.select([one for one in table.names if one != target]))
    labels = Labels.none(len(rows), np.zeros(1))
    labels = replace(labels, group=encode_groups(name, len(rows)))
    return infer(rows).encode(rows, labels).labels.group


def held_out(
    rows: int, part: float, seed: int, groups: NDArray[np.uint64] | None = None
) -> NDArray[np.bool_]:
    """Mark the rows that a random split holds out; the same for the same arguments."""
    import numpy as np

    chosen = np.zeros(rows, np.bool_)
    size, draw = round(rows * part) if part < 1 else int(part), np.random.default_rng(seed)
    if groups is None:
        chosen[draw.permutation(rows)[:size]] = True
        return chosen
    _, of, number = np.unique(groups, return_inverse=True, return_counts=True)
    order = draw.permutation(len(number))
    before = np.cumsum(number[order]) - number[order]
    return np.isin(of, order[before < size])


# --- What a model has learned and predicts, printed for people on a terminal of 80 columns -------


WIDTH = 78  # columns, so that nothing is wrapped in a terminal of 80
SHOWN_CLASSES = 10
SHOWN_ITEMS = 6  # of an explanation
SHOWN_COLUMNS = 8  # have a line each; if there are more, each event model has a line
IMBALANCED = 0.9  # with a greater share of one of two classes, accuracy says little
SURE = 0.999  # a greater probability would be shown as 100 %


def print_scores(console: Console, found: Scores, always: Scores, frequency: float) -> None:
    """Print the scores beside those of always answering the majority class."""
    other = shortened(f"always {found.majority!r}", 28)
    wide = max(len(other), len("NaiveBayes()"))
    what, rare, hits = "accuracy", None, (found.accuracy, found.majority_accuracy)
    if len(found.roc) == 2 and found.majority_accuracy >= IMBALANCED:
        (rare,) = found.roc.keys() - {found.majority}
        what, hits = f"recall of {shortened(repr(rare), 20)}", (found.by_class[rare][1], 0.0)
    console.print(f"  {'':<{wide}}  {what}  log loss  calibration error")
    for name, style, *of in (
        ("NaiveBayes()", "bold green", hits[0], found.log_loss, found.calibration_error),
        (other, "", hits[1], always.log_loss, abs(frequency - found.majority_accuracy)),
    ):
        numbers = f"{of[0]:{len(what)}.3f}  {of[1]:8.3f}  {of[2]:17.3f}"
        console.print(f"  {name:<{wide}}  {numbers}", style=style)
    if rare is not None:
        share = f"{1 - found.log_loss / always.log_loss:.0%} of the uncertainty (log loss)"
        console.print(f"\n  {share} is explained. Recall is the share of the rows")
        console.print("  of a class that is found: --cost gives more, with more false alarms.")


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
    from naively.inspect.odds import strongest

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


def print_row(console: Console, row: Rows) -> None:
    """Print the texts of a row; the explanation shows the numbers."""
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
        lines.append((rest, f"(all others: {len(every) - SHOWN_ITEMS:,})"))
    for weight, item in lines:
        number = Text(f"    {weight:+8.2f}", style="green" if weight > 0 else "red")
        console.print(number + Text(shortened(f"  {item}", WIDTH - 12), style=""))
    console.print(f"    {odds:8.2f}  log odds of {answer} against {rival}", style="bold")


def _item(column: str, value: object, *, exact: bool = False) -> str:
    """Return an item of an explanation: a word, or a column with its level or number."""
    match value:
        case None:
            return column
        case float():
            return f"{column} = {value:,.10g}" if exact else f"{column} near {value:,.4g}"
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


# --- Results are a readable table on a terminal, and CSV or JSON in a pipe or a file -------------


DIGITS = 4  # after the point of a float in a table; CSV and JSON have all digits


def write(
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    form: Format | None,
    out: TextIO | None = None,
) -> None:
    """Write rows under names, to standard output by default."""
    # In CSV and JSON, text is as in the data, but for characters that a terminal would obey.
    out = out or sys.stdout
    on_terminal = out.isatty()
    form = form or (Format.table if on_terminal else Format.csv)
    if form is Format.csv:
        every = chain([names], rows)
        _write_csv(map(_visible, every) if on_terminal else every, out)
    elif form is Format.json:
        for row in rows:
            record = {n: json_value(v) for n, v in zip(names, row, strict=True)}
            line = json.dumps(record, ensure_ascii=False, default=str)
            out.write(re.sub(OBEYED, lambda found: f"\\u{ord(found[0]):04x}", line) + "\n")
    else:
        _write_table(names, rows, out)


def write_table(table: Tabular, form: Format | None, out: TextIO | None = None) -> None:
    """Write a result that is a table, as ``write`` does."""
    columns = table.to_dict()
    write([*columns], zip(*columns.values(), strict=True), form, out)


def _visible(row: Iterable[object]) -> list[object]:
    return [visible(value) if isinstance(value, str) else value for value in row]


def _write_csv(rows: Iterable[Sequence[object]], out: TextIO) -> None:
    plain, quoted = (
        csv.writer(out, lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for row in rows:  # the module quotes a lone carriage return only from Python 3.13 on
        returns = any("\r" in str(value) for value in row)
        (quoted if returns else plain).writerow(row)


def console(out: TextIO, *, soft_wrap: bool = False) -> Console:
    """Return a console of Rich that writes text as it is, without markup or names of emoji."""
    from rich.console import Console

    return Console(file=out, markup=False, emoji=False, highlight=False, soft_wrap=soft_wrap)


def _write_table(names: Sequence[str], rows: Iterable[Sequence[object]], out: TextIO) -> None:
    from rich.table import Table

    rows = list(rows)
    if not rows:
        return
    table = Table(box=None, pad_edge=False)
    for i, name in enumerate(names):
        numeric = are_numbers(row[i] for row in rows if row[i] is not None)
        table.add_column(visible(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console(out).print(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return "" if math.isnan(value) else f"{value:.{DIGITS}f}"
        case int() if type(value) is not bool:
            return f"{value:,}"
    return visible(str(value))
