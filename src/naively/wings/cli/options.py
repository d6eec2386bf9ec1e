"""How a verb is declared, and the arguments and options that verbs share."""

from __future__ import annotations

import os
import re
from collections import Counter, UserDict
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import partial, update_wrapper
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypeVar, cast

import click

from naively.messages import Verbosity
from naively.options import OPTIONS, FileOptions

Declared = TypeVar("Declared", bound=Callable[..., Any])


# What a message calls an option of Python, but in a call, or in a name between quotes.
PYTHON = re.compile(
    r"""\w\([^()]*\)|"[^"]*"|^([a-z_]+)(?= (?:must|needs|names|has no effect))|"""
    r"""(?<![\w'-])([a-z]+(?:_[a-z]+)*)=('[^']*'|\d[\w.]*|True|False|None)?(?=[\s,.;:)]|$)"""
)


def as_options(ctx: click.Context, text: str) -> str:
    """Return a message with the options of Python as a shell has them: ``groups=`` as --groups."""
    # An option that the verb does not have is that of the verb that trains.
    verb_of = getattr(ctx.find_root().command, "get_command", lambda *_: None)

    def written(found: re.Match[str]) -> str:
        name, value = found[1] or found[2], found[3]
        for verb in (ctx.command, verb_of(ctx, "train")):
            for option in verb.params if name and verb else ():
                if option.name == name and option.param_type_name == "option":
                    said = max(option.opts, key=len)
                    if value and not getattr(option, "is_flag", False):
                        plain = value.lower() if value[0] in "TFN" else value.strip("'")
                        said = f"{said} {quote(plain)}"
                    return said if verb is ctx.command else f"`train {said}`"
        return found[0]

    return PYTHON.sub(written, text.replace("save(path, keep_rows=True)", "keep_rows=True"))


class Verb(click.Command):
    """A verb whose options may each be given once, so that no value is dropped in silence."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, or raise an error if an option or a file is given twice."""
        Verbosity.written = partial(as_options, ctx)
        _, rest, given = self.make_parser(ctx).parse_args(args=list(args))
        if rest and all(map(os.path.exists, rest)):
            raise click.UsageError(
                f"One DATA is read, and {rest[0]} is another file: if the shell made them of a "
                "pattern, put it between quotes, as in 'data/*.csv', and all files are read as one",
                ctx,
            )
        for parameter, count in Counter(given).items():
            if count > 1 and parameter.param_type_name == "option":
                raise click.BadParameter("give it once.", ctx, parameter)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the options, below their headings."""
        below: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "option":
                below.setdefault(getattr(parameter, "heading", "Options"), []).append(record)
        for heading, records in below.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class OfModules(UserDict[str, Any]):
    """Verbs by name, each of which is imported from its module when it is asked for."""

    def __getitem__(self, verb: str) -> click.Command:
        return cast("click.Command", getattr(import_module(self.data[verb]), verb))


class Verbs(click.Group):
    """Verbs, in their order."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*self.commands]

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb; Click would write an empty line at an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs, each with the first sentence of its help, which Click cuts off."""
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Verbs"):
            formatter.write_dl(
                [(name, verb.get_short_help_str(limit=200)) for name, verb in found.items() if verb]
            )


class OptionBelow(click.Option):
    """An option that the help shows below a heading of its own."""

    def __init__(self, *declared: Any, heading: str, **settings: Any) -> None:
        super().__init__(*declared, **settings)
        self.heading = heading


def option_below(heading: str) -> Callable[..., Callable[[Declared], Declared]]:
    """Return what declares options below a heading, as ``click.option`` does without one."""
    return partial(click.option, cls=OptionBelow, heading=heading)


class Format(StrEnum):
    """The format of results."""

    table = "table"
    csv = "csv"
    json = "json"


data_argument = click.argument(
    "data",
    metavar="DATA",
    help="CSV, Parquet or JSON lines (also .gz or .zst), mail, a folder with one folder of "
    "text files for each class, or - for standard input.",
)
some_data_argument = partial(click.argument, "data", metavar="[DATA]", required=False)
model_argument = click.argument("model", metavar="MODEL", help="A model file.")
target_option = click.option("--target", "-t", help="The column that holds the labels.")
columns_option = click.option("--columns", help="Learn from these columns only: a,b,c.")
ignore_option = click.option("--ignore", help="Do not learn from these columns: a,b,c.")
class_prior_option = click.option(
    "--class-prior",
    help="How frequent the classes are among these rows, if not as in training: ham=0.9,spam=0.1.",
)
cost_option = click.option(
    "--cost",
    help="The cost of wrong answers, if not 1: ham:spam=9 is the cost of answering spam for "
    "ham. The answer has the least expected cost.",
)
reject_option = click.option(
    "--reject", type=float, help='Answer "unsure" if the best class is less probable: 0.9.'
)
top_option = partial(click.option, "--top", type=click.IntRange(min=1), default=10)
format_option = click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(Format),
    help="Default: a table on a terminal, CSV in a pipe.",
)
of_file = option_below("How to read DATA, if the guess is wrong")


def file_options(verb: Declared) -> Declared:
    """Give a verb the declared options of how a file is read, together, as ``file``."""

    def with_file(**given: Any) -> object:
        said = FileOptions(**{of.name: given.pop(of.name) for of in fields(FileOptions)})
        others = filter(None, map(given.get, ("model", "output", "out")))
        same = [of for of in others if Path(of).resolve() == Path(said.left_out_to).resolve()]
        if said.left_out_to and same:
            raise ValueError(
                f"--bad-rows names {said.left_out_to}, which is read or written too: name another."
            )
        return verb(**given, file=said)

    declared = cast("Declared", update_wrapper(with_file, verb))
    for of in reversed(fields(FileOptions)):
        name, what = of.name.replace("_", "-"), of.metadata["help"]
        if of.default is True:
            given_as = {"flag_value": False, "default": True, "show_default": False}
            declared = of_file(f"--no-{name}", of.name, **given_as, help=what)(declared)
        else:
            declared = of_file(f"--{name}", help=what)(declared)
    return declared


class HowRead(NamedTuple):
    """How DATA is read, as far as options say: its format, within which memory, and its file."""

    format: str | None = None  # "csv", "parquet" or "jsonl", where the name does not tell
    memory: str | None = None
    file: FileOptions = FileOptions()

    def over(self, kept: Mapping[str, object]) -> HowRead:
        """Return this, and, of what is not said of the file, what a model has kept."""
        return self._replace(file=self.file.over(kept))


AS_FOUND = HowRead()


def reading_options(verb: Declared) -> Declared:
    """Give a verb the options of how DATA is read, together, as ``how``."""

    def with_how(
        *, input_format: str | None, memory_limit: str | None, file: FileOptions, **given: object
    ) -> object:
        return verb(**given, how=HowRead(input_format, memory_limit, file))

    of_memory = click.option(
        "--memory-limit",
        help="About how much memory to take, such as 400MB or 2GB: fewer rows are held at a time.",
    )
    of_format = click.option(
        "--input-format", help="csv, parquet or jsonl, if the name does not show it."
    )
    return of_format(file_options(of_memory(cast("Declared", update_wrapper(with_how, verb)))))


def settings_options(verb: Declared) -> Declared:
    """Give a verb the declared options of ``NaiveBayes``, as text; "none" is None."""
    for of in reversed(OPTIONS):
        default = "none" if of.default is None else str(of.default)
        name = f"--{of.name.replace('_', '-')}"
        verb = click.option(name, default=default, help=of.metadata["help"])(verb)
    return verb
