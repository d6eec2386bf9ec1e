"""How good the filter is: on messages that it has not learned, and by its leave-one-out scores.

Thresholds come with a guarantee: of ``n`` good mails that were scored without having been learned,
``k`` came above a threshold; by the bound of Clopper and Pearson (Biometrika 26, 1934) the share of
good mails above it is then, with a confidence of 95 %, at most the share of which ``k`` or fewer
of ``n`` are found in one case of twenty.
"""

from __future__ import annotations

from math import ceil, exp, floor, lgamma, log, log1p

from naively.mail.layout import BINS
from naively.mail.score import BIN_WIDTH, logistic, prior_log_odds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from naively.mail.table import MailTable

CONFIDENCE = 0.95
CALIBRATION_BINS = 10
LEAST = 1e-15  # a probability, in the log loss


def upper_bound(k: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the greatest share of which ``k`` or fewer of ``n`` are still plausible.

    Examples
    --------
    >>> round(upper_bound(0, 2995), 6), round(upper_bound(3, 100), 4), upper_bound(5, 5)
    (0.001, 0.0757, 1.0)
    """
    if k >= n:
        return 1.0

    def at_most_k(p: float) -> float:
        odds = [
            lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log1p(-p)
            for i in range(k + 1)
        ]
        return sum(map(exp, odds))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most_k(middle) > 1 - confidence else (low, middle)
    return (low + high) / 2


def guaranteed(table: MailTable, rate: float) -> float:
    """Return the least probability above which at most this share of good mail comes, surely so.

    The leave-one-out scores of the good mails that were learned say so, by ``upper_bound``.

    Parameters
    ----------
    table : MailTable
        The model.
    rate : float
        The share of good mail that may be taken for spam, such as 0.001.

    Raises
    ------
    ValueError
        If too few good mails have been scored to promise this.
    """
    ham = [max(0.0, count) for count in table.histogram[:BINS]]
    n = floor(sum(ham))
    if upper_bound(0, n) > rate:
        needed = ceil(log(1 - CONFIDENCE) / log1p(-rate))
        raise ValueError(
            f"At most {share_of(rate)} good mails cannot be promised: that takes leave-one-out "
            f"scores of {needed:,} good mails, and the model has those of {n:,}. Learn more good "
            "mail, together with spam."
        )
    above = 0.0
    for place in range(BINS - 1, -1, -1):
        above += ham[place]
        if upper_bound(ceil(above), n) > rate:
            return _probability(table, place)
    return _probability(table, 0)


def share_of(rate: float) -> str:
    """Return a small share in words.

    Examples
    --------
    >>> share_of(0.001), share_of(0.03)
    ('1 of 1,000', '1 of 33')
    """
    return f"1 of {round(1 / rate):,}"


def _probability(table: MailTable, place: int) -> float:
    """Return the probability of spam at the upper end of a bin of the histogram of scores."""
    score = (place - BINS // 2 + 0.5) * BIN_WIDTH
    return logistic(prior_log_odds(table.messages) + table.temperature * score)


class Judged:
    """What a filter says of messages whose class is known.

    Parameters
    ----------
    found : sequence of (float, int, str)
        Of each message the probability of spam, the class (1 is spam), and what it is called.
    """

    def __init__(self, found: Sequence[tuple[float, int, str]]) -> None:
        self.found = found
        self.spam = sum(c for _, c, _ in found)
        self.ham = len(found) - self.spam

    def at(self, threshold: float) -> tuple[int, int]:
        """Return how many good mails are above a threshold, and how much spam is not."""
        above = [c for p, c, _ in self.found if p > threshold]
        return len(above) - sum(above), self.spam - sum(above)

    @property
    def log_loss(self) -> float:
        """The mean of -log p(class), in nats."""
        right = (p if c else 1 - p for p, c, _ in self.found)
        return -sum(log(max(p, LEAST)) for p in right) / len(self.found)

    @property
    def calibration_error(self) -> float:
        """The mean distance of the probability of spam from the share of spam, in equal bins."""
        ordered = sorted(self.found)
        n, error = len(ordered), 0.0
        for i in range(CALIBRATION_BINS):
            part = ordered[i * n // CALIBRATION_BINS : (i + 1) * n // CALIBRATION_BINS]
            error += abs(sum(p - c for p, c, _ in part))
        return error / n

    def errors(self, threshold: float) -> list[tuple[float, int, str]]:
        """Return the messages that are on the wrong side, the most surely wrong first."""
        wrong = [each for each in self.found if (each[0] > threshold) != bool(each[1])]
        return sorted(wrong, key=lambda each: -abs(each[0] - each[1]))
