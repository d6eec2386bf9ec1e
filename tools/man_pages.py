"""Writes the manual pages, naively(1) and one of each verb: ``python tools/man_pages.py FOLDER``.

All of it is what ``--help`` says; packages for systems copy the folder to ``share/man/man1``. The
mail filter parses its arguments itself, and has a page of its own kind.
"""

from __future__ import annotations

import re
import sys
from argparse import Action
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from naively import __version__
from naively.wings.cli.app import app
from naively.wings.mail.command import HELP, STATUSES, VERBS
from naively.wings.mail.verbs.parser import parser_of

MAIL = "naively-mail"


def man_pages() -> dict[str, str]:
    """Return the pages by name, such as naively-train, in the language of man(7)."""
    root = _in_context(app, "naively")
    pages = {"naively": [*_head("naively", root), *_options(root), *_verbs(root)]}
    for of in _commands_of(root):
        name = of.command_path.replace(" ", "-")
        if name != MAIL:
            pages[name] = [*_head(name, of), *_options(of), *_sections(of), *_see("naively")]
    pages[MAIL] = [*_mail_page()]
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in pages.items()}


def _in_context(command: Any, name: str, parent: Any = None) -> Any:
    """Return a command in its context, which knows its path and how help is asked for."""
    return command.context_class(command, info_name=name, parent=parent, **command.context_settings)


def _commands_of(of: Any) -> list[Any]:
    """Return the commands of a group, each in its context; none of what is no group."""
    names = of.command.list_commands(of) if hasattr(of.command, "list_commands") else []
    found = [(name, of.command.get_command(of, name)) for name in names]
    return [_in_context(command, name, of) for name, command in found if not command.hidden]


# --- The verbs -----------------------------------------------------------------------------------


def _head(page: str, of: Any) -> Iterator[str]:
    """Yield how a page begins: name, synopsis, description."""
    said = _paragraphs(of.command.help)
    yield _title(page)
    yield from (".SH NAME", f"{_roff(page)} \\- {said[0].rstrip('.')}")
    yield from (".SH SYNOPSIS", *_synopsis(of))
    yield from (".SH DESCRIPTION", *_between(".PP", said))


def _synopsis(of: Any) -> Iterator[str]:
    arguments = [_named(a) for a in of.command.params if a.param_type_name == "argument"]
    more = ["VERB ..."] if hasattr(of.command, "list_commands") else []
    yield f".B {_roff(of.command_path)}"
    yield _roff(" ".join(["[OPTIONS]", *arguments, *more]))


def _named(argument: Any) -> str:
    """Return an argument as a synopsis shows it: MODEL, [DATA], MODELS..."""
    name = str(argument.metavar or argument.name.upper())
    name = name if argument.required or name.startswith("[") else f"[{name}]"
    return name if argument.nargs == 1 or name.endswith("...") else f"{name}..."


def _options(of: Any, heading: str = ".SH") -> Iterator[str]:
    """Yield the arguments and options of a command, under the headings that its help has."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in of.command.get_params(of):
        if getattr(parameter, "hidden", False):
            continue
        is_option = parameter.param_type_name == "option"
        panel = getattr(parameter, "heading", None)
        if is_option:
            item = parameter.get_help_record(of)
        else:
            item = _named(parameter), getattr(parameter, "help", None) or ""
        panels.setdefault(panel or ("Options" if is_option else "Arguments"), []).append(item)
    for panel, items in panels.items():
        is_first = heading == ".SH" and panel in ("Arguments", "Options")
        yield f".SH {panel.upper()}" if is_first else f".SS {_roff(panel)}"
        yield from _items(items)


def _sections(of: Any) -> Iterator[str]:
    """Yield the verbs of a group, which have no pages of their own."""
    for verb in _commands_of(of):
        yield from (f".SH {_roff(verb.command_path.upper())}", *_synopsis(verb))
        yield from (".PP", *_between(".PP", _paragraphs(verb.command.help)))
        yield from _options(verb, ".SS")


def _verbs(root: Any) -> Iterator[str]:
    """Yield what each verb does, and where its page is."""
    verbs = _commands_of(root)
    yield ".SH VERBS"
    for verb in verbs:
        yield from (".TP", f".B {_roff(verb.info_name)}", _paragraphs(verb.command.help)[0])
    yield from _see(*(verb.command_path.replace(" ", "-") for verb in verbs))


# --- The mail filter -----------------------------------------------------------------------------


def _mail_page() -> Iterator[str]:
    yield _title(MAIL)
    yield from (".SH NAME", r"naively\-mail \- a spam filter that learns by counting")
    yield from (".SH SYNOPSIS", ".B naively mail", r"\fIVERB\fR \fIMODEL\fR ...")
    yield from (".SH DESCRIPTION", _roff(HELP))
    yield ".SH VERBS"
    for verb in VERBS:
        parser = parser_of(verb)
        usage = " ".join(parser.format_usage().split()).removeprefix("usage: ")
        yield from (f".SS {verb}", _roff(usage), ".PP", _roff(parser.description or ""))
        yield from _items(
            (_invocation(action), (action.help or "") % {"prog": parser.prog})
            for action in parser._actions  # noqa: SLF001  (there is no public way)
        )
    yield ".SH EXIT STATUS"
    yield from _items((str(status), what) for status, what in STATUSES.items())
    yield from _see("naively", "bogofilter", "spamc", "spamd(8)")


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


# --- The language of man(7) ----------------------------------------------------------------------


def _title(page: str) -> str:
    return f'.TH {_roff(page.upper())} 1 "" "naively {__version__}" "User Commands"'


def _items(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield options, or the like, each with what is said of it."""
    for name, said in items:
        yield from (".TP", f".B {_roff(name.strip().removeprefix('/ '))}", _roff(said) or r"\&")


def _see(*pages: str) -> Iterator[str]:
    """Yield what else to read: pages of section 1, where the name does not say another."""
    yield ".SH SEE ALSO"
    for page in pages:
        name, _, section = page.rstrip(")").partition("(")
        comma = "," if page != pages[-1] else ""
        yield f".BR {_roff(name)} ({section or 1}){comma}"


def _paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a help text, each on one line."""
    return [_roff(" ".join(part.split())) for part in re.split(r"\n\s*\n", (text or "").strip())]


def _between(mark: str, lines: list[str]) -> Iterator[str]:
    for i, line in enumerate(lines):
        yield from (mark, line) if i else (line,)


def _roff(text: str) -> str:
    """Return a text in which nothing is obeyed; what stands between backquotes is bold."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in man_pages().items():
        (folder / f"{name}.1").write_text(page, encoding="utf-8")
