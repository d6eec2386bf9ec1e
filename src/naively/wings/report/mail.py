"""The page about the model of a mail filter: what it learned, its words, and how good it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from naively.messages import amount
from naively.wings.mail import about
from naively.wings.mail.about import (
    CALIBRATION_BINS,
    THRESHOLDS,
    Judged,
    judged_by_leaving_out,
    upper_bound,
)
from naively.wings.mail.table import CLASSES, MailTable
from naively.wings.report import html
from naively.wings.report.page import Report, assembled

TITLES = {
    "warnings": "Before you believe it",
    "learned": "What it learned from",
    "words": "The strongest words",
    "good": "How good it is",
    "calibration": "Can its probabilities be believed?",
    "errors": "Which messages it takes for the other class",
}
WORDS = 20  # of each class
ERRORS = 200  # messages that are named
KNOWN = 0.01  # of the messages, from which on the scores are not those of new mail


def write_mail_report(table: MailTable, judged: Judged | None, name: str) -> Report:
    """Return the page about a model of mail."""
    left_out = judged_by_leaving_out(table)
    best = judged or (left_out if left_out.found else None)
    bodies = {
        "warnings": _warnings(judged),
        "learned": _learned(table),
        "words": _words(table),
        "good": _good(judged, left_out),
        "calibration": "" if best is None else _calibration(best),
        "errors": "" if judged is None else _errors(judged),
    }
    return assembled(name, TITLES, bodies, lead=_lead(table, best, given=judged is not None))


def _lead(table: MailTable, best: Judged | None, *, given: bool) -> str:
    """Say what it is, and how good in plain words."""
    ham, spam = map(amount, table.messages)
    said = "A filter that gives the probability that a message is spam. It has learned "
    said += f"{ham} good mails and {spam} of spam."
    if best is not None:
        lost, missed = best.at(0.5)
        said += (
            f" It takes {lost:,} of {best.ham:,} good mails {'given' if given else 'left out'} for "
            f"spam, and misses {missed:,} of {best.spam:,} of spam."
        )
    return f'<p class="lead">{html.escaped(said)}</p>'


def _warnings(judged: Judged | None) -> str:
    if judged is None or judged.learned < KNOWN * len(judged.found):
        return ""
    said = (
        f"The model has learned {judged.learned:,} of the {len(judged.found):,} given messages: "
        "scores on new mail will be worse."
    )
    return html.alert([said])


def _learned(table: MailTable) -> str:
    """Say what was learned, and when, by the years of words and of messages."""
    words = Counter(about.date_of(day)[:4] for _, day in table.days() if day)
    messages = Counter(about.date_of(day)[:4] for day, _ in table.known().values() if day)
    years = sorted(words | messages)
    lines = [[year, words[year], messages[year] if table.remembers else None] for year in years]
    facts = "".join(f"<li>{html.escaped(fact)}</li>" for fact in about.facts(table))
    head = ["year", "words last learned", "messages remembered"]
    return f"<ul>{facts}</ul>" + (html.table(head, lines) if lines else "")


def _words(table: MailTable) -> str:
    """Draw the words of greatest weight for each class."""
    found = list(about.strongest(table, WORDS))
    most = max((weight for *_, weight in found), default=0.0)
    cards = []
    for label in reversed(CLASSES):
        bars = html.bars(
            "Weight of evidence, and in how many messages of ham and of spam",
            (
                (word, weight / most, f"{weight:+.2f}: {amount(ham)}, {amount(spam)}")
                for of, word, ham, spam, weight in found
                if of == label
            ),
        )
        cards += [f"<h3>{label}</h3>{bars}"] if bars else []
    note = html.note(
        "Weights of evidence, in nats: what a word adds to the log odds of its class before the "
        "sum is divided by the root of the number of words. Words of headers begin with theirs."
    )
    return html.cards(cards) + note if cards else ""


def _good(judged: Judged | None, left_out: Judged) -> str:
    """Say how many messages are on the wrong side of several thresholds."""
    known = {} if judged is None else {"on the mail given": judged}
    if left_out.found:
        known["on learned mail, each message left out"] = left_out
    if not known:
        return html.note(
            "The filter cannot be scored: no mail was given, and it has no leave-one-out scores. "
            "They take 20 messages of each class that are learned together."
        )

    def line(what: str, value: Callable[[Judged], object]) -> list[object]:
        return [what, *(value(each) for each in known.values())]

    lines = [
        line("messages of ham", lambda each: each.ham),
        line("messages of spam", lambda each: each.spam),
        line("wrong at 0.5", lambda each: sum(each.at(0.5))),
        line("log loss (nats per message)", lambda each: each.log_loss),
        line("calibration error", lambda each: each.calibration_error),
    ]
    tables = (
        f"<h3>{html.escaped(name.capitalize())}</h3>" + _thresholds(each)
        for name, each in known.items()
    )
    return html.table(["", *known], lines) + "".join(tables)


def _thresholds(judged: Judged) -> str:
    lines: list[Sequence[object]] = []
    for threshold in THRESHOLDS:
        lost, missed = judged.at(threshold)
        bound = f"{upper_bound(lost, judged.ham):.2%}" if judged.ham else None
        lines.append([threshold, lost, bound, missed])
    head = ["spam above", "ham taken for spam", "at most (95 %)", "spam not found"]
    return html.table(head, lines)


def _calibration(judged: Judged) -> str:
    """Show how much of the mail is spam, by what the probabilities say."""
    lines = [[len(p), sum(p) / len(p), sum(c) / len(c)] for p, c in judged.bins]
    bars = html.bars(
        "Mean probability of spam, and the share that is spam",
        ((f"{p:.4f}", share, f"{share:.4f}") for _, p, share in lines),
    )
    head = ["messages", "mean probability of spam", "share of spam"]
    said = html.note(
        f"Messages by probability, in {CALIBRATION_BINS} parts of the same size; the bars are the "
        "shares that are spam."
    )
    return bars + said + html.details("As numbers", html.table(head, lines))


def _errors(judged: Judged) -> str:
    """Name the messages on the wrong side of one half."""
    found = judged.errors(0.5)
    if not found:
        return html.note("None of the given messages.")
    lines = [[p, CLASSES[c], name] for p, c, name in found[:ERRORS]]
    more = html.note(f"These are {ERRORS} of {len(found):,}.") if len(found) > ERRORS else ""
    return html.table(["probability of spam", "class", "message"], lines) + more
