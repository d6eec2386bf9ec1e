"""From words to a probability: naive Bayes on the words that are there, once each.

    log odds = log(spam messages / ham messages) + temperature * sum of weights / sqrt(words)

The weight of a word is the log of the ratio of the shares of spam and of ham that hold it. Words
of one message are far from independent, so the sum is worth about the square root of their
number; the temperature, fitted on leave-one-out evidence, settles the rest. Messages are counted by
that evidence, so that these counts can be added and taken back as all others are.
"""

from __future__ import annotations

from math import exp, isfinite, log, log1p, sqrt

from naively.kernels.tokens import split
from naively.mail.layout import BINS
from naively.mail.message import CONTACTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from naively.mail.table import Counts, Table

SMOOTHING = 0.1  # pretend messages with the word, and as many without it, in each class
LONGEST = 40  # characters of a word; beyond are remains of encodings
MOST = 50_000  # words of a message; real mail has 10,000
COLDEST, HOTTEST = 1 / 16, 16.0
ENOUGH = 20  # messages of each class, to fit the temperature at all
WIDTH = 1 / 8  # of a bin of evidence; all bins are from -32 to 32


def words_of(row: Mapping[str, str | bool]) -> list[str]:
    """Return the words of a message, each once; those of a header begin with its column.

    Of more than ``MOST``, they are the first.

    Examples
    --------
    >>> words_of({"subject": "Lunch?", "body": "Lunch at noon", "sender_in_contacts": True})
    ['subject:lunch', 'lunch', 'at', 'noon', 'sender_in_contacts:yes']
    """
    words: dict[str, None] = {}
    for column, text in row.items():
        if column == CONTACTS:
            words[f"{CONTACTS}:{'yes' if text else 'no'}"] = None
            continue
        prefix = "" if column == "body" else f"{column}:"
        for word in split(str(text)):
            if len(word) <= LONGEST:
                words[prefix + word] = None
    return list(words)[:MOST]


def weight(count: Counts, messages: Counts) -> float:
    """Return the weight of evidence for spam of a word, of which these are the counts.

    Examples
    --------
    >>> round(weight((1, 8), (10, 10)), 2), weight((0, 0), (10, 10))
    (2.0, 0.0)
    """
    if not any(count):
        return 0.0
    ham, spam = (
        (n + SMOOTHING) / (m + 2 * SMOOTHING) for n, m in zip(count, messages, strict=True)
    )
    return log(spam / ham)


class Verdict:
    """What a table says of the words of a message.

    Attributes
    ----------
    probability : float
        That the message is spam; 0.5 before both classes have been learned.
    weights : list of (str, float)
        The known words, and what each adds to the log odds, greatest first, either way.
    """

    def __init__(self, table: Table, words: Sequence[str]) -> None:
        self.weights: list[tuple[str, float]] = []
        self.probability = 0.5
        if not all(table.messages):
            return
        counts = ((word, table[word]) for word in words)
        known = [(word, weight(count, table.messages)) for word, count in counts if any(count)]
        scale = table.temperature / sqrt(len(known) or 1)
        self.weights = sorted(((w, scale * e) for w, e in known), key=lambda item: -abs(item[1]))
        log_odds = prior(table.messages) + sum(e for _, e in self.weights)
        if not isfinite(log_odds):
            raise ValueError("The model's counts are not finite: the file is damaged.")
        self.probability = logistic(log_odds)


def prior(messages: Counts) -> float:
    """Return the log odds of spam before anything is read."""
    return log(messages[1] / messages[0])


def logistic(log_odds: float) -> float:
    """Return the probability of these log odds.

    Examples
    --------
    >>> logistic(0.0), logistic(-1000.0), logistic(1000.0)
    (0.5, 0.0, 1.0)
    """
    if log_odds < 0:
        return 1.0 - logistic(-log_odds)
    return 1.0 / (1.0 + exp(-log_odds))


def tally_evidence(table: Table, sample: Sequence[tuple[Sequence[str], int]]) -> list[int]:
    """Count messages that the table has learned by their class and their evidence for spam.

    Each is scored as if it had not been learned: its own counts are subtracted.

    Parameters
    ----------
    table : Table
        The counts.
    sample : sequence of (words, class)
        Some of the messages that were counted; class 1 is spam.

    Returns
    -------
    tally : list of int
        ``BINS`` counts of ham, then as many of spam.
    """
    tally = [0] * (2 * BINS)
    left = {c: (table.messages[0] - (c == 0), table.messages[1] - (c == 1)) for c in (0, 1)}
    weights: dict[tuple[str, int], float | None] = {}  # without one message of class c
    for words, c in sample:
        if not all(left[c]):
            continue
        total, known = 0.0, 0
        for word in words:
            if (word, c) not in weights:
                ham, spam = table[word]
                count = ham - (c == 0), spam - (c == 1)
                weights[word, c] = weight(count, left[c]) if any(count) else None
            found = weights[word, c]
            if found is not None:
                total += found
                known += 1
        place = round(total / sqrt(known or 1) / WIDTH) + BINS // 2
        tally[c * BINS + min(max(place, 0), BINS - 1)] += 1
    return tally


def fit_temperature(tally: Sequence[int], messages: Counts) -> float | None:
    """Return the temperature of least log loss on messages that are counted by their evidence.

    The penalty is that of a normal prior on the log of the temperature. None if there are not
    ``ENOUGH`` messages of each class.

    Parameters
    ----------
    tally : sequence of int
        See `tally_evidence`; those of several batches are added.
    messages : (float, float)
        How many messages of each class were learned.
    """
    if min(sum(tally[:BINS]), sum(tally[BINS:])) < ENOUGH or min(messages) <= 1:
        return None
    scored = []
    for i, n in enumerate(tally):
        if n > 0:  # where messages were taken back in another order than learned, it may be below
            c, place = divmod(i, BINS)
            left = messages[0] - (c == 0), messages[1] - (c == 1)
            scored.append((n, prior(left), (place - BINS // 2) * WIDTH, 2 * c - 1))

    def loss(log_temperature: float) -> float:
        t = exp(log_temperature)
        return log_temperature**2 / 2 + sum(
            n * _log1pexp(-y * (a + t * e)) for n, a, e, y in scored
        )

    low, high = log(COLDEST), log(HOTTEST)
    for _ in range(40):  # the loss falls, then rises: thirds of the range are dropped
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if loss(a) < loss(b) else (a, high)
    return exp((low + high) / 2)


def _log1pexp(x: float) -> float:
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))
