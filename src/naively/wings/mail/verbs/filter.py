"""The verb `filter`: a message is marked as spam or ham, or it is said of many what they are."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

from naively.wings.mail.passage import ERROR, pass_on, say
from naively.wings.mail.verbs.options import contacts_of, lists_of
from naively.wings.mail.verdict import CLASS, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from naively.wings.mail.message import Notes

STATUS = {"spam": 0, "ham": 1, "unsure": 2}  # the exit status of each class, as in bogofilter


def run(options: SimpleNamespace) -> int:
    """Mark the message, or say what many are, and return the exit status."""
    if options.mail:
        return _filter_all(options)
    return pass_on(partial(_filter, options), ERROR if options.exit_code else 0)


def refuse(error: Exception) -> int:
    """Write the message as it came, as the options are wrong, and return the exit status."""

    def wrong(*_: object) -> tuple[bytes, int]:
        raise error

    return pass_on(wrong)


def _filter(options: SimpleNamespace, message: bytes, whole: bool) -> tuple[bytes, int]:
    """Return a message with the filter's headers, and the exit status."""
    from naively.wings.mail.lazily import import_email

    import_email()
    from naively.wings.mail.headers import mark
    from naively.wings.mail.score import WordWeights, judge
    from naively.wings.mail.table import open_table
    from naively.wings.mail.verdict import division_of, headers_of, spam_headers

    notes: Notes = {} if whole else {"only the beginning read": None}
    table = open_table(options.model)
    verdict, row = judge(message, WordWeights(table), contacts_of(options.contacts), notes)
    lists = lists_of(options)
    division = division_of(table, options.costs, options.unsure, options.at_most, lists)
    label, listed = division(verdict.probability, row), division.listed(row)
    named = options.header, options.texts
    headers = headers_of(label, verdict, notes, named, explain=options.explain)
    if listed:
        headers["X-Naively-List"] = listed[1]
    if options.spam_headers:
        headers |= spam_headers(label, verdict, division.threshold)
    status = STATUS[label] if options.exit_code else 0
    return mark(message, headers, whole=whole), status


def _filter_all(options: SimpleNamespace) -> int:
    """Write what is said of each of many messages, and return the exit status."""
    import os
    import sys
    import warnings
    from pathlib import Path

    from naively.wings.mail.bulk import filter_all, said_of
    from naively.wings.mail.score import WordWeights
    from naively.wings.mail.table import open_table
    from naively.wings.mail.verdict import division_of

    named = options.header, tuple(options.texts)
    if options.exit_code or options.spam_headers or named != (CLASS, TEXTS):
        raise ValueError(
            "--exit-code, --spam-headers, --header and --texts are for one message on standard "
            "input."
        )
    warnings.showwarning = lambda message, *_, **__: say(message)
    paths = [Path(name) for name in options.mail]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"There is no mail at {path}.")
    table = open_table(options.model)
    lists = lists_of(options)
    division = division_of(table, options.costs, options.unsure, options.at_most, lists)
    known = {"contacts": contacts_of(options.contacts), "explain": options.explain}
    say_of = partial(said_of, weights=WordWeights(table), division=division, **known)
    failed = False
    for line in filter_all(say_of, paths, options.jobs or os.cpu_count() or 1):
        failed = failed or '"error": ' in line
        sys.stdout.write(line)
    return ERROR if failed else 0
