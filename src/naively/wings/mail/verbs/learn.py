"""The verbs `learn` and `unlearn`: mail is added to a model file, or taken back from it."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

from naively import saving
from naively.messages import many
from naively.progress import with_progress
from naively.wings.mail.learn import learn
from naively.wings.mail.mailbox import read_labelled, read_messages
from naively.wings.mail.message import forwarded, read_message
from naively.wings.mail.passage import say
from naively.wings.mail.verbs.options import contacts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def run(options: SimpleNamespace) -> int:
    """Learn or unlearn mail, say what was passed over, and return the exit status."""
    warnings.showwarning = lambda message, *_, **__: say(message)
    read = [options.labels, options.contacts, *(options.mail or [saving.STANDARD_INPUT])]
    saving.check_output(options.model, filter(None, read))
    rows = with_progress(_rows(options), "messages") if options.mail else _rows(options)
    forget = options.verb == "unlearn"
    done = learn(options.model, rows, forget=forget, remember=options.remember)
    did = "unlearned" if forget else "learned"
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"{did.capitalize()} {many(done.n, 'message')}.")
    if done.empty:
        say(f"Not {did}, as there are no words in them: {many(done.empty, 'message')}.")
    if done.moved:
        say(f"Moved from the class that they had been learned as: {many(done.moved, 'message')}.")
    for note in done.notes:
        say(f"Note: {note.rstrip('.')}.")
    if done.again:
        already = "were given twice" if forget else "had been learned already"
        say(f"Not {did}, as they {already}: {many(done.again, 'message')}.")
    return 0


def _rows(options: SimpleNamespace) -> Iterator[tuple[dict[str, str | bool], str]]:
    contacts = contacts_of(options.contacts)
    for whole, label in messages_of(options):
        for raw in forwarded(whole) if options.forwarded else [whole]:
            yield read_message(raw, contacts), label


def messages_of(options: SimpleNamespace) -> Iterator[tuple[bytes, str]]:
    """Yield each message, as it was received, with its class."""
    if not options.mail:
        if options.label is None:
            raise ValueError("Say what the message on standard input is: --as spam or --as ham.")
        yield sys.stdin.buffer.read(), options.label
        return
    for name in options.mail:
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"There is no mail at {path}.")
        if options.label is None:
            yield from read_labelled(path, options.labels and Path(options.labels))
        else:
            yield from ((raw, options.label) for raw in read_messages(path))
