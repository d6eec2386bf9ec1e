"""The verbs of the command line are put together; an error is one sentence, with exit status 2."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections import Counter
from contextlib import suppress
from copy import copy
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from naively.cli import ask, curve, demo, export, learn, serve
from naively.cli import ask as report
from naively.cli import learn as update
from naively.mail import command
from naively.messages import Verbosity, say

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
UsageError: Any = typer.BadParameter.__base__  # it has no public name of its own


class OnceCommand(TyperCommand):
    """A verb whose options may each be given once, so that no value is dropped in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or raise an error if an option is given twice."""
        given: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        for parameter, count in Counter(given).items():
            if count > 1 and parameter.param_type_name == "option":
                raise typer.BadParameter("give it once.", ctx, parameter)
        return super().parse_args(ctx, args)


class LogFormat(StrEnum):
    """How messages are written."""

    text = "text"
    json = "json"


app = typer.Typer(
    name="naively",
    help="Naive Bayes is counting: learn from tables and texts, predict, and say why.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for function in (
    learn.train,
    update.update,
    update.forget,
    update.merge,
    update.decay,
    update.calibrate,
    ask.columns,
    ask.predict,
    ask.evaluate,
    ask.explain,
    ask.show,
    ask.diff,
    report.report,
    export.export,
    serve.serve,
    demo.demo,
):
    app.command(cls=OnceCommand)(function)

curves = typer.Typer(help="How good a model is by its rows, its pseudo-count or its decay.")
curves.command(cls=OnceCommand)(curve.learning)
curves.command(cls=OnceCommand)(curve.smoothing)
curves.command(cls=OnceCommand)(curve.decay)
app.add_typer(curves, name="curve")


@app.command(
    "mail",
    help=command.HELP,
    add_help_option=False,  # each of its verbs parses its own arguments; here it is listed
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def _mail(context: typer.Context) -> None:
    raise typer.Exit(command.run(context.args))


def _version(wanted: bool) -> None:
    if wanted:
        from naively import __version__, show_config

        typer.echo(f"naively {__version__}")
        show_config()
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001  (its callback answers)
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Version and kernels."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write errors to standard error, and no notes.")
    ] = False,
    log_format: Annotated[
        LogFormat,
        typer.Option(help="Of what is written to standard error: text, or lines of JSON."),
    ] = LogFormat.text,
) -> None:
    Verbosity.quiet, Verbosity.json = quiet, log_format is LogFormat.json


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit status 2."""
    warnings.showwarning = _say_warning
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")  # a name that is no UTF-8, as it came
    try:
        status = _run()
    finally:
        Verbosity.quiet = Verbosity.json = False  # for what is run in this process after it
    sys.exit(status)


def _run() -> int | None:
    """Run the verb that the shell gave, and return the exit status."""
    arguments = None if sys.argv[1:] else ["--help"]  # None is what the shell gave
    asked = _only(sys.argv[1]) if arguments is None else app
    try:
        status: int | None = asked(arguments, prog_name="naively", standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        hint = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
        say(f"{error.format_message().strip().rstrip('.')}.{hint}", "error")
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (ValueError, TypeError, OSError, ImportError) as error:
        say(_full(error) or error, "error")
    except MemoryError:
        say("There is not enough memory for this.", "error")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    else:
        return status
    return 2


def _only(verb: str) -> typer.Typer:
    """Return the verb that is asked for alone, as putting all of them together takes a while."""
    found = [
        of
        for of in app.registered_commands
        if verb in (of.name, getattr(of.callback, "__name__", None))
    ]
    if not found:
        return app
    only = copy(app)
    only.registered_commands, only.registered_groups = found, []
    return only


def _full(error: Exception) -> str:
    """Say that standard output is full; errors of other files name them."""
    if not isinstance(error, OSError) or error.errno not in FULL or error.filename is not None:
        return ""
    with suppress(OSError):  # what is left to write finds no room when Python ends either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"Cannot write standard output: {error.strerror}."


def _say_warning(message: object, *_: object, **__: object) -> None:
    say(message, "warning")
