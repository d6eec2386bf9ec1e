"""What a model of mail holds, as facts and tables, and how good it is.

Thresholds come with a guarantee: of ``n`` good mails that were scored without having been learned,
``k`` came above a threshold; by the bound of Clopper and Pearson (Biometrika 26, 1934) the share of
good mails above it is then, with a confidence of 95 %, at most the share of which ``k`` or fewer of
``n`` are found in one case of twenty.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil, exp, floor, lgamma, log, log1p

from naively.messages import amount, many
from naively.wings.mail.layout import BINS
from naively.wings.mail.score import BIN_WIDTH, logistic, prior_log_odds, weight_of_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from naively.wings.mail.table import MailTable


CONFIDENCE = 0.95
CALIBRATION_BINS = 10
THRESHOLDS = (0.5, 0.9, 0.99, 0.999)  # that a filter is judged at
LEAST = 1e-15  # a probability, in the log loss


def upper_bound(k: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the greatest share of which ``k`` or fewer of ``n`` are still plausible."""
    if k >= n:
        return 1.0
    ways = [lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) for i in range(k + 1)]
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        of, others = log(middle), log1p(-middle)
        at_most_k = sum(exp(way + i * of + (n - i) * others) for i, way in enumerate(ways))
        low, high = (middle, high) if at_most_k > 1 - confidence else (low, middle)
    return (low + high) / 2


def guaranteed(table: MailTable, rate: float) -> float:
    """Return the least probability above which at most this share of good mail comes, surely so."""
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
    """Return a small share in words."""
    return f"1 of {round(1 / rate):,}"


def _probability(table: MailTable, place: float) -> float:
    """Return the probability of spam at the upper end of a bin of the histogram of scores."""
    score = (place - BINS // 2 + 0.5) * BIN_WIDTH
    return logistic(prior_log_odds(table.messages) + table.temperature * score)


def judged_by_leaving_out(table: MailTable) -> Judged:
    """Return what a model says of the messages that it learned, each left out, by its histogram."""
    # Scores are known to half a bin; messages that count less than half, as counts were scaled, are
    # not there.
    found = []
    for i, count in enumerate(table.histogram):
        c, place = divmod(i, BINS)
        found += [(_probability(table, place - 0.5), c, "")] * max(0, round(count))
    return Judged(found)


def judged_of(
    table: MailTable, mail: Iterable[tuple[bytes, str]], contacts: Collection[str] | None = None
) -> Judged:
    """Return what a model says of messages whose class is known."""
    from naively.wings.mail.learn import digest_of, name_of
    from naively.wings.mail.score import WordWeights, judge
    from naively.wings.mail.table import CLASSES

    known, weights = table.known().keys(), WordWeights(table)
    found, learned = [], 0
    for raw, label in mail:
        if label not in CLASSES:
            raise ValueError(f"The classes of mail are spam and ham; there is mail of {label!r}.")
        verdict, row = judge(raw, weights, contacts)
        learned += any(digest_of(row, each) in known for each in CLASSES)
        found.append((verdict.probability, CLASSES.index(label), name_of(row)))
    if not found:
        raise ValueError("There is no mail to judge the model on.")
    return Judged(found, learned)


class Judged:
    """What a filter says of messages whose class is known."""

    def __init__(self, found: Sequence[tuple[float, int, str]], learned: int = 0) -> None:
        # found: of each message the probability of spam, the class (1 is spam), and what it is
        # called; learned: how many of them the filter is known to have learned
        self.found, self.learned = found, learned
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
        return sum(abs(sum(p) - sum(c)) for p, c in self.bins) / len(self.found)

    @property
    def bins(self) -> list[tuple[list[float], list[int]]]:
        """Probabilities and classes in bins of the same number of messages, ascending."""
        ordered, n = sorted(self.found), len(self.found)
        ends = [i * n // CALIBRATION_BINS for i in range(CALIBRATION_BINS + 1)]
        parts = (ordered[begin:end] for begin, end in pairwise(ends) if end > begin)
        return [([p for p, _, _ in part], [c for _, c, _ in part]) for part in parts]

    def errors(self, threshold: float) -> list[tuple[float, int, str]]:
        """Return the messages that are on the wrong side, the most surely wrong first."""
        wrong = [each for each in self.found if (each[0] > threshold) != bool(each[1])]
        return sorted(wrong, key=lambda each: -abs(each[0] - each[1]))


RATES = (0.01, 0.001)  # of good mail, for which a threshold is said


def date_of(day: int) -> str:
    """Return a day since 1970 by ISO 8601."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).date().isoformat()


def facts(table: MailTable) -> list[str]:
    """Return sentences about a table: what it learned, when, and what it promises."""
    ham, spam = table.messages
    said = [
        f"A mail filter that has learned {amount(ham)} good mails and {amount(spam)} of spam: "
        f"{many(len(table), 'word')}" + (f", last on {date_of(table.last_day)}." if table else ".")
    ]
    said.append(f"Scores are multiplied by {table.temperature:.3g}, the temperature.")
    if table.remembers:
        said.append(f"It remembers {many(len(table.known()), 'message')} by their digests.")
    else:
        said.append("It remembers no messages: one may be learned twice.")
    if table.scaled:
        said.append("Counts were scaled, so that older messages count less than one.")
    if table.expired:
        said.append(f"Words that were not learned since {date_of(table.expired)} were dropped.")
    for rate in RATES:
        try:
            threshold = guaranteed(table, rate)
        except ValueError:
            continue
        said.append(
            f"Above a probability of {threshold:.4f} come at most {share_of(rate)} good mails "
            "(with a confidence of 95 %)."
        )
    return said


Strongest = tuple[str, str, float, float, float]  # class, word, ham, spam, weight


def strongest(table: MailTable, top: int) -> Iterator[Strongest]:
    """Yield the words of greatest weight for each class, spam first."""
    if not all(table.messages):
        return
    weighed = [(weight_of_evidence(n, table.messages), word, n) for word, n in table.items()]
    weighed.sort(key=lambda each: (-each[0], each[1]))
    for label, words in (("spam", weighed[:top]), ("ham", weighed[::-1][:top])):
        sign = 1 if label == "spam" else -1
        for weight, word, (ham, spam) in words:
            if sign * weight > 0:
                yield label, word, ham, spam, sign * weight


# A word, its ham and spam before and after, and its weight before and after (0 of one class alone).
Change = tuple[str, float, float, float, float, float, float]


def differences(before: MailTable, after: MailTable, top: int) -> list[Change]:
    """Return the words whose weight for spam changed most, with their counts and weights."""
    words = {word for table in (before, after) for word, _ in table.items()}
    rows = []
    for word in words:
        counts = before[word], after[word]
        if counts[0] == counts[1] and before.messages == after.messages:
            continue
        old, new = (
            weight_of_evidence(n, table.messages) if all(table.messages) else 0.0
            for n, table in zip(counts, (before, after), strict=True)
        )
        rows.append((word, *counts[0], *counts[1], old, new))
    return sorted(rows, key=lambda row: (-abs(row[6] - row[5]), row[0]))[:top]
