"""Writes naively-mail(1), the manual page of the mail filter: ``python tools/man_page.py FILE``.

All of it is what ``--help`` says; packages for systems copy it to ``share/man/man1``.
"""

from __future__ import annotations

import re
import sys
from argparse import Action
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from naively import __version__
from naively.mail.command import HELP, STATUSES, VERBS
from naively.mail.verbs.parser import Parser


def parser_of(verb: str) -> Parser:
    """Return what parses the arguments of a verb."""
    module = import_module(f"naively.mail.verbs.{VERBS[verb][1]}")
    parser: Parser = module.parser_of(verb)
    return parser


def man_page() -> str:
    """Return the page, in the language of man(7)."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield f'.TH NAIVELY\\-MAIL 1 "" "naively {__version__}" "User Commands"'
    yield from (".SH NAME", r"naively\-mail \- a spam filter that learns by counting")
    yield from (".SH SYNOPSIS", ".B naively mail", r"\fIVERB\fR \fIMODEL\fR ...")
    yield from (".SH DESCRIPTION", _roff(HELP))
    yield ".SH VERBS"
    for verb in VERBS:
        yield from _verb(verb)
    yield ".SH EXIT STATUS"
    for status, what in STATUSES.items():
        yield from (".TP", f".B {status}", _roff(what))
    yield from (".SH SEE ALSO", ".BR bogofilter (1),", ".BR spamc (1),", ".BR spamd (8)")


def _verb(verb: str) -> Iterator[str]:
    parser = parser_of(verb)
    yield f".SS {verb}"
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
    yield from (_roff(usage), ".PP", _roff(parser.description or ""))
    for action in parser._actions:  # noqa: SLF001  (there is no public way)
        yield from (".TP", f".B {_roff(_invocation(action))}")
        yield _roff((action.help or "") % {"prog": parser.prog})


def _invocation(action: Action) -> str:
    """Return how an option or argument is written: ``--unsure LOW HIGH``."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    named: tuple[str, ...] = ()
    if isinstance(action.metavar, tuple):
        named = action.metavar
    elif action.nargs != 0:
        named = (action.metavar or "|".join(action.choices or [action.dest.upper()]),)
    return " ".join([", ".join(action.option_strings), *named])


def _roff(text: str) -> str:
    """Return a text in which nothing is obeyed; what stands between backquotes is bold."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(man_page(), encoding="utf-8")
