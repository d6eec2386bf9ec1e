"""The group of verbs, and errors as one sentence with exit status 2."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

from naively.cli import ask, demo, learn, mail, update

app = typer.Typer(
    name="naively",
    help="Naive Bayes is counting: learn from tables and texts, predict, and say why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(learn.train)
app.command()(update.update)
app.command()(update.forget)
app.command()(update.merge)
app.command()(update.decay)
app.command()(update.calibrate)
app.command()(ask.predict)
app.command()(ask.evaluate)
app.command()(ask.explain)
app.command()(ask.show)
app.command()(demo.demo)


def _mail(context: typer.Context) -> None:
    raise typer.Exit(mail.run([context.command.name or "", *context.args]))


for verb, what in mail.VERBS.items():  # they parse their own arguments; here they are listed
    app.command(
        verb, help=what, add_help_option=False, context_settings={"ignore_unknown_options": True,
        "allow_extra_args": True},
    )(_mail)  # fmt: skip


def _version(wanted: bool) -> None:
    if wanted:
        from naively import __version__, show_config

        typer.echo(f"naively {__version__}")
        show_config()
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Version and kernels."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input is one sentence on stderr and exit status 2."""
    warnings.showwarning = _say_warning
    try:
        app(prog_name="naively")
    except (ValueError, TypeError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            sys.exit(0)
        _say(str(error))
        sys.exit(2)
    except MemoryError:
        _say("There is not enough memory for this.")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _say(message: str) -> None:
    sys.stderr.write(f"naively: {message}\n")


def _say_warning(message: Any, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}")
