"""What the filter says of a message: its class, how sure that is, and the headers that tell it.

Programs that know SpamAssassin compare a score with a threshold. The score is the log odds of spam,
and the threshold those above which spam costs less than ham: 0 if both mistakes cost the same.
"""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from naively.mail.message import Notes
    from naively.mail.score import Verdict, Weights
    from naively.mail.table import MailTable

    Headers = dict[str, str]
    Row = dict[str, str | bool]
    Costs = tuple[float, float]  # of ham that is taken for spam, and of spam that is taken for ham

EQUAL: Costs = (1.0, 1.0)
TOP = 10  # words that explain
GREATEST = 999.9  # score that is written


def judge(
    message: bytes,
    table: MailTable | Weights,
    contacts: Collection[str] | None = None,
    notes: Notes | None = None,
) -> tuple[Verdict, Row]:
    """Score a message; a sentence about each thing that was beyond a limit is added to the notes.

    Parameters
    ----------
    message : bytes
        The message, or its beginning.
    table : MailTable or Weights
        The model.
    contacts : collection of str, optional
        Addresses in lower case.
    notes : dict, optional
        Sentences.

    Returns
    -------
    verdict : Verdict
        What the model says.
    row : dict
        The message by columns.

    Examples
    --------
    >>> from naively.mail.table import MailTable
    >>> table = MailTable.empty().add({"pills": (0, 2), "lunch": (1, 0)}, (2, 2))
    >>> verdict, row = judge(b"Subject: x\n\nPills!", table)
    >>> round(verdict.probability, 2), row["subject"]
    (0.96, 'x')
    """
    from naively.mail.limits import WORDS
    from naively.mail.message import read_message
    from naively.mail.score import Verdict, words_of

    notes = {} if notes is None else notes
    row = read_message(message, contacts, notes)
    words = words_of(row)
    if len(words) == WORDS:
        notes[f"read to {WORDS:,} different words"] = None
    return Verdict(table, words), row


def is_spam(probability: float, costs: Costs = EQUAL) -> bool:
    """Whether to take a message of this probability for spam costs less than to take it for ham."""
    cost_of_lost_ham, cost_of_seen_spam = costs
    return probability * cost_of_seen_spam > (1 - probability) * cost_of_lost_ham


def threshold_of(costs: Costs = EQUAL) -> float:
    """Return the log odds of spam above which a message is spam."""
    return log(costs[0] / costs[1])


def score_and_threshold(log_odds: float, threshold: float, *, is_spam: bool) -> tuple[str, str]:
    """Return the log odds of spam, and those that are enough, with one decimal each.

    Rounded too, the score is at least the threshold if the message is spam, and else below it.

    Examples
    --------
    >>> score_and_threshold(7.31, 0.0, is_spam=True), score_and_threshold(0.0, 0.0, is_spam=False)
    (('7.3', '0.0'), ('-0.1', '0.0'))
    """
    score, least = (
        round(10 * max(-GREATEST, min(GREATEST, value))) for value in (log_odds, threshold)
    )
    score = max(score, least) if is_spam else min(score, least - 1)
    return f"{score / 10:.1f}", f"{least / 10:.1f}"


def headers_of(label: str, verdict: Verdict, notes: Notes, *, explain: bool = False) -> Headers:
    """Return the headers that the filter adds to a message, by name."""
    headers = {"X-Naively-Class": label, "X-Naively-Probability": f"{verdict.probability:.6f}"}
    if explain:
        headers["X-Naively-Evidence"] = _explanation(verdict)
    if notes:
        headers["X-Naively-Note"] = ",\n ".join(notes)
    return headers


def spam_headers(score: str, threshold: str, *, is_spam: bool) -> Headers:
    """Return the headers by which SpamAssassin marks a message; X-Spam-Flag is of spam only.

    Examples
    --------
    >>> spam_headers("7.3", "0.0", is_spam=True)
    {'X-Spam-Flag': 'YES', 'X-Spam-Status': 'Yes, score=7.3 required=0.0'}
    """
    status = f"{'Yes' if is_spam else 'No'}, score={score} required={threshold}"
    return ({"X-Spam-Flag": "YES"} if is_spam else {}) | {"X-Spam-Status": status}


def reasons(verdict: Verdict) -> list[str]:
    """Return the words of greatest weight, and what each adds to the log odds of spam."""
    return [f"{word} {added:+.2f}" for word, added in verdict.contributions[:TOP]]


def _explanation(verdict: Verdict) -> str:
    """Return the words that contribute most, as a folded header; it is ASCII, by RFC 2047."""
    from email.header import Header

    text = ", ".join(reasons(verdict))
    charset = "us-ascii" if text.isascii() else "utf-8"
    return Header(text, charset, 76, "X-Naively-Evidence").encode(", ", 76, "\n")
