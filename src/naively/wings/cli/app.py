"""The command line finds the verb that is asked for; an error is one sentence, with status 2."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from contextlib import suppress

import click

from naively.messages import Verbosity, say
from naively.wings.cli.options import OfModules, Verbs
from naively.wings.mail import command

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
OF_THRESHOLD = "--cost sets a threshold: yes:no=9 is 1/10. For a recall: nb.assess().threshold(.9)"
MODULES = {  # of each verb; only that of the verb that is asked for is imported
    verb: f"naively.wings.cli.{module}"
    for module, verbs in {
        "learn": ("train", "update", "forget", "merge", "decay", "calibrate"),
        "ask": ("columns", "predict", "evaluate", "explain", "show", "diff", "report"),
        "export": ("export",),
        "serve": ("serve",),
        "demo": ("demo",),
        "app": ("mail",),
        "curve": ("curve",),
    }.items()
    for verb in verbs
}


@click.command(
    help=command.HELP,
    add_help_option=False,  # each of its verbs parses its own arguments; here it is listed
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def mail(context: click.Context) -> None:  # noqa: D103  its help is that of the mail filter
    context.exit(command.run(context.args))


def _version(context: click.Context, _option: object, wanted: bool) -> None:
    if wanted:
        from naively import __version__, show_config

        click.echo(f"naively {__version__}")
        show_config()
        context.exit()


def _completion(context: click.Context, _option: object, shell: str | None) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        of = get_completion_class(shell)
        assert of is not None
        click.echo(of(app, {}, "naively", "_NAIVELY_COMPLETE").source())
        context.exit()


@click.command(
    cls=Verbs,
    commands=OfModules(MODULES),
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Version and kernels.",
)
@click.option("--quiet", "-q", is_flag=True, help="Write errors to standard error, and no notes.")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="The form of notes and errors on standard error: text, or lines of JSON.",
)
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    is_eager=True,
    expose_value=False,
    callback=_completion,
    help="Write the script that completes verbs and options in a shell.",
)
def app(quiet: bool, log_format: str) -> None:
    """Naive Bayes is counting: learn from tables and texts, predict, and say why."""
    Verbosity.quiet, Verbosity.json = quiet, log_format == "json"


def main() -> None:
    """Run the command line; bad input is one sentence on standard error and exit status 2."""
    warnings.showwarning = lambda message, *_, **__: say(message, "warning")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")  # a name that is no UTF-8, as it came
    try:
        status = _run()
    finally:
        Verbosity.quiet = Verbosity.json = False  # for what is run in this process after it
        Verbosity.written = str
    sys.exit(status)


def _run() -> int | None:
    """Run the verb that the shell gave, and return the exit status."""
    arguments = None if sys.argv[1:] else ["--help"]  # None is what the shell gave
    try:
        status: int | None = app.main(arguments, prog_name="naively", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        if getattr(error, "option_name", None) in ("--threshold", "--recall", "--precision"):
            error = click.UsageError(OF_THRESHOLD, error.ctx)
        message = error.format_message().strip().rstrip(".")
        end = "" if message.endswith("?") else "."
        hint = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
        say(f"{message}{end}{hint}", "error")
    except BrokenPipeError:  # who read it has read enough, as `| head` does
        return 0
    except SystemExit as end:
        return 0 if end.code == 1 else int(end.code or 0)  # 1 is how Click says the same
    except (ValueError, TypeError, OSError, ImportError) as error:
        say(_full(error) or error, "error")
    except MemoryError:
        say("There is not enough memory for this.", "error")
    except (KeyboardInterrupt, click.Abort):
        return 130
    else:
        return status
    return 2


def _full(error: Exception) -> str:
    """Say that standard output is full; errors of other files name them."""
    if not isinstance(error, OSError) or error.errno not in FULL or error.filename is not None:
        return ""
    with suppress(OSError):  # what is left to write finds no room when Python ends either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"Cannot write standard output: {error.strerror}."
