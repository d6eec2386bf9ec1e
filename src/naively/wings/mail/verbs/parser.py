"""What parses the arguments of verbs; it takes some milliseconds to import."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that raises an error, which argparse prints as mail if standard error is closed."""

    def __init__(self, verb: str, what: str) -> None:
        super().__init__(f"naively mail {verb}", None, what, formatter_class=_help)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}. See `{self.prog} --help`.")


class _Once(argparse.Action):
    """An option with a value that may be given once, so that no value is dropped in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, "give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def _help(prog: str) -> argparse.HelpFormatter:
    """Return what formats help, for a fixed width: to ask the terminal for its width costs 4 ms."""
    return argparse.HelpFormatter(prog, width=90)
