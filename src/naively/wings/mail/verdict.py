"""What the filter says of a message: its class, how sure that is, and the headers that tell it.

Programs that know SpamAssassin compare a score with a threshold. The score is the log odds of spam,
and the threshold those above which spam costs less than ham: 0 if both mistakes cost the same.
"""

from __future__ import annotations

from math import inf, log

from naively.wings.mail.headers import NAMED, OWN, SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from naively.wings.mail.message import Notes
    from naively.wings.mail.score import Verdict
    from naively.wings.mail.table import MailTable

    Headers = dict[str, str]
    Row = dict[str, str | bool]
    Costs = tuple[float, float]  # of ham that is taken for spam, and of spam that is taken for ham
    Lists = tuple[frozenset[str], frozenset[str]]  # of senders that are allowed, and blocked
    Named = tuple[str, Sequence[str]]  # the header that has the class, and its text for each

EQUAL: Costs = (1.0, 1.0)
NOBODY: Lists = (frozenset(), frozenset())
TOP = 10  # words that explain
GREATEST = 999.9  # score that is written
CLASS = "X-Naively-Class"
TEXTS = ("spam", "ham", "unsure")  # of that header, by class


class Division:
    """Which class a message has, by its probability of spam; a listed sender decides before."""

    def __init__(
        self,
        threshold: float,  # the log odds of spam that divide the classes
        spam_if: Callable[[float], bool],  # whether a probability is that of spam
        ham_if: Callable[[float], bool] = lambda _: True,  # or of ham; else the class is unsure
        lists: Lists = NOBODY,
    ) -> None:
        self.threshold = threshold
        self._spam_if, self._ham_if, self._lists = spam_if, ham_if, lists

    def listed(self, row: Row) -> tuple[str, str] | None:
        """Return the class that a list has the sender of a message in, and its entry, if any."""
        if not any(self._lists):
            return None
        from naively.wings.mail.lists import decided

        return decided(str(row["sender"]), *self._lists)

    def __call__(self, probability: float, row: Row | None = None) -> str:
        """Return the class of a message."""
        listed = None if row is None else self.listed(row)
        if listed is not None:
            return listed[0]
        if self._spam_if(probability):
            return "spam"
        return "ham" if self._ham_if(probability) else "unsure"


def division_of(
    table: MailTable | None,
    costs: Costs = EQUAL,
    unsure: tuple[float, float] | None = None,
    at_most: float | None = None,
    lists: Lists = NOBODY,
) -> Division:
    """Return the division that options ask for: of least cost, unless another is given."""
    if table is not None and at_most is not None:
        from naively.wings.mail.about import guaranteed

        least = guaranteed(table, at_most)
        return Division(_logit(least), lambda p: p > least, lists=lists)
    if unsure is not None:
        low, high = unsure
        return Division(_logit(high), lambda p: not p < high, lambda p: p <= low, lists)
    of_ham, of_spam = costs
    least_cost = log(of_ham / of_spam)
    return Division(least_cost, lambda p: p * of_spam > (1 - p) * of_ham, lists=lists)


def _logit(p: float) -> float:
    return log(p / (1 - p)) if 0 < p < 1 else (2 * p - 1) * inf


def score_and_threshold(log_odds: float, threshold: float, *, is_spam: bool) -> tuple[str, str]:
    """Return the log odds of spam, and those that are enough, with one decimal each."""
    # Rounded too, the score is at least the threshold if the message is spam, and else below it.
    score, least = (round(10 * max(-GREATEST, min(GREATEST, x))) for x in (log_odds, threshold))
    score = max(score, least) if is_spam else min(score, least - 1)
    return f"{score / 10:.1f}", f"{least / 10:.1f}"


def headers_of(
    label: str,
    verdict: Verdict,
    notes: Notes,
    named: Named = (CLASS, TEXTS),
    *,
    explain: bool = False,
) -> Headers:
    """Return the headers that the filter adds to a message, by name."""
    # Where the class has a header of another name, X-Naively-Header says which: who learns the
    # message knows by it that the header was not there when the message came.
    name, texts = named
    headers = {name: texts[TEXTS.index(label)]}
    if not name.lower().startswith((OWN, SPAM)):
        headers[NAMED] = name
    headers["X-Naively-Probability"] = f"{verdict.probability:.6f}"
    if explain:
        headers["X-Naively-Evidence"] = _explanation(verdict)
    if notes:
        headers["X-Naively-Note"] = ",\n ".join(notes)
    return headers


def spam_headers(label: str, verdict: Verdict, threshold: float) -> Headers:
    """Return the headers by which SpamAssassin marks a message; X-Spam-Flag is of spam only."""
    found = label == "spam"
    score, least = score_and_threshold(verdict.log_odds, threshold, is_spam=found)
    status = f"{'Yes' if found else 'No'}, score={score} required={least}"
    return ({"X-Spam-Flag": "YES"} if found else {}) | {"X-Spam-Status": status}


def reasons(verdict: Verdict) -> list[str]:
    """Return the words of greatest weight, and what each adds to the log odds of spam."""
    return [f"{word} {added:+.2f}" for word, added in verdict.contributions[:TOP]]


def _explanation(verdict: Verdict) -> str:
    """Return the words that contribute most, as a folded header; it is ASCII, by RFC 2047."""
    from email.header import Header

    text = ", ".join(reasons(verdict))
    charset = "us-ascii" if text.isascii() else "utf-8"
    return Header(text, charset, 76, "X-Naively-Evidence").encode(", ", 76, "\n")
