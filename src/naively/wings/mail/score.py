"""From words to a probability: naive Bayes on the words that a message holds, each counted once.

    log odds = log(spam messages / ham messages) + temperature * score
    score = sum of the weights of evidence of the known words / sqrt(number of known words)

The weight of evidence of a word is the log of a ratio: the share of spam that holds the word over
the share of ham that does. Words of one message are far from independent, so a sum of n weights
tells about as much as sqrt(n) independent ones; a temperature, fitted on leave-one-out scores,
settles the rest. A histogram counts messages by their leave-one-out score; it is added to and
subtracted from as the counts of words are.
"""

from __future__ import annotations

from math import exp, isfinite, log, log1p, sqrt

from naively.kernels.tokens import split
from naively.wings.mail.layout import BINS
from naively.wings.mail.limits import WORD_LENGTH, WORDS
from naively.wings.mail.message import CONTACTS, read_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from naively.wings.mail.message import Notes
    from naively.wings.mail.table import Counts, MailTable

PSEUDO_COUNT = 0.1  # of messages with a word, and of messages without it, in each class
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 1 / 16, 16.0
SEARCH_STEPS = 40  # each leaves two thirds of the range of temperatures
ENOUGH = 20  # messages of each class, below which no temperature is fitted
KEPT = 200_000  # weights of words that are kept
UNKNOWN: dict[Counts, float | None] = {(0.0, 0.0): None}  # weights by counts, shared by words
BIN_WIDTH = 1 / 8  # of the histogram of scores, whose bins are centred from -32 to 32


def words_of(row: Mapping[str, str | bool]) -> list[str]:
    """Return the words of a message, each once; those of a header begin with its column."""
    # In a script without spaces they are the pairs of its characters: with single ones beside them,
    # which say much the same again, the filter is worse, as it has no weights. Only the first
    # limits.WORDS words are returned.
    words: dict[str, None] = {}
    for column, text in row.items():
        if column == CONTACTS:
            words[f"{CONTACTS}:{'yes' if text else 'no'}"] = None
            continue
        prefix = "" if column == "body" else f"{column}:"
        # No word reaches over white space, so what comes again between it is split once.
        for word in split(" ".join(dict.fromkeys(str(text).split())), singles=False):
            if len(word) <= WORD_LENGTH:
                words[prefix + word] = None
    return list(words)[:WORDS]


def weight_of_evidence(count: Counts, messages: Counts) -> float:
    """Return log p(word | spam) / p(word | ham), smoothed; 0 for a word that was never counted."""
    if not any(count):
        return 0.0
    ham = (count[0] + PSEUDO_COUNT) / (messages[0] + 2 * PSEUDO_COUNT)
    spam = (count[1] + PSEUDO_COUNT) / (messages[1] + 2 * PSEUDO_COUNT)
    return log(spam / ham)


class WordWeights(dict[str, "float | None"]):
    """The weights of evidence of words, each derived from a table when first asked for."""

    def __init__(self, table: MailTable) -> None:
        super().__init__()
        self.table = table
        self._of_counts = UNKNOWN.copy()

    def __missing__(self, word: str) -> float | None:
        if len(self) >= KEPT:  # nobody can fill the memory of who reads message after message
            self.clear()
            self._of_counts = UNKNOWN.copy()
        count = self.table[word]
        if count not in self._of_counts:
            self._of_counts[count] = weight_of_evidence(count, self.table.messages)
        self[word] = weight = self._of_counts[count]
        return weight


class Verdict:
    """What a table says of the words of a message."""

    def __init__(self, table: MailTable | WordWeights, words: Sequence[str]) -> None:
        # table: the counts; or the weights of evidence, which are kept from message to message
        self.probability, self.log_odds = 0.5, 0.0
        self._words: Sequence[str] = ()
        self._weights: list[float | None] = []
        self._scale = 1.0
        weights = table if isinstance(table, WordWeights) else WordWeights(table)
        messages = weights.table.messages
        if not all(messages):
            return
        self._words, self._weights = words, list(map(weights.__getitem__, words))
        known = [weight for weight in self._weights if weight is not None]
        self._scale = weights.table.temperature / sqrt(len(known) or 1)
        log_odds = prior_log_odds(messages) + self._scale * sum(known)
        if not isfinite(log_odds):
            raise ValueError("The model's counts are not finite: the file is damaged.")
        self.probability, self.log_odds = logistic(log_odds), log_odds

    @property
    def contributions(self) -> list[tuple[str, float]]:
        """The known words, and what each adds to the log odds; the greatest in size first."""
        each = zip(self._words, self._weights, strict=False)
        added = [(word, self._scale * weight) for word, weight in each if weight is not None]
        return sorted(added, key=lambda item: -abs(item[1]))


def judge(
    message: bytes,
    weights: WordWeights,
    contacts: Collection[str] | None = None,
    notes: Notes | None = None,
) -> tuple[Verdict, dict[str, str | bool]]:
    """Score a message; the notes get a sentence about each thing that was beyond a limit."""
    notes = {} if notes is None else notes
    row = read_message(message, contacts, notes)
    words = words_of(row)
    notes |= dict.fromkeys(contacts_note(weights.table, given=contacts is not None))
    if len(words) == WORDS:
        notes[f"read to {WORDS:,} different words"] = None
    return Verdict(weights, words), row


def prior_log_odds(messages: Counts) -> float:
    """Return the log odds of spam before anything of a message is read."""
    return log(messages[1] / messages[0])


def logistic(log_odds: float) -> float:
    """Return the probability that has these log odds."""
    if log_odds < 0:
        return 1.0 - logistic(-log_odds)
    return 1.0 / (1.0 + exp(-log_odds))


def contacts_note(table: MailTable, *, given: bool) -> list[str]:
    """Say if contacts are given to a model that has learned without them, or the other way."""
    knows = any(any(table[f"{CONTACTS}:{word}"]) for word in ("yes", "no"))
    if given == knows or not any(table.messages):
        return []
    if given:
        return ["the model was learned without --contacts, so that these tell nothing yet"]
    return ["the model was learned with --contacts, and none are given"]


def leave_one_out_histogram(
    table: MailTable, sample: Sequence[tuple[Sequence[str], int]]
) -> list[int]:
    """Count messages that the table has learned by their class and their leave-one-out score."""
    histogram = [0] * (2 * BINS)
    others = {c: (table.messages[0] - (c == 0), table.messages[1] - (c == 1)) for c in (0, 1)}
    weights: dict[tuple[str, int], float | None] = {}  # of a word, without one message of class c
    for words, c in sample:
        if not all(others[c]):
            continue
        total, known = 0.0, 0
        for word in words:
            if (word, c) not in weights:
                ham, spam = table[word]
                count = ham - (c == 0), spam - (c == 1)
                weights[word, c] = weight_of_evidence(count, others[c]) if any(count) else None
            weight = weights[word, c]
            if weight is not None:
                total += weight
                known += 1
        place = round(total / sqrt(known or 1) / BIN_WIDTH) + BINS // 2
        histogram[c * BINS + min(max(place, 0), BINS - 1)] += 1
    return histogram


def fit_temperature(histogram: Sequence[float], messages: Counts) -> float | None:
    """Return the temperature of least penalised log loss on messages in a histogram of scores."""
    # The penalty is that of a normal prior on the log of the temperature. The result is None if
    # there are not ENOUGH messages of each class.
    if min(sum(histogram[:BINS]), sum(histogram[BINS:])) < ENOUGH or min(messages) <= 1:
        return None
    bins = []
    for i, n in enumerate(histogram):
        if n > 0:  # a count is below 0 where messages were taken back in another order than learned
            c, place = divmod(i, BINS)
            others = messages[0] - (c == 0), messages[1] - (c == 1)
            bins.append((n, prior_log_odds(others), (place - BINS // 2) * BIN_WIDTH, 2 * c - 1))

    def loss(log_temperature: float) -> float:
        t = exp(log_temperature)
        return log_temperature**2 / 2 + sum(
            n * _log1pexp(-sign * (prior + t * score)) for n, prior, score, sign in bins
        )

    low, high = log(LOWEST_TEMPERATURE), log(HIGHEST_TEMPERATURE)
    for _ in range(SEARCH_STEPS):  # the loss falls, then rises: a third of the range is dropped
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if loss(a) < loss(b) else (a, high)
    return exp((low + high) / 2)


def _log1pexp(x: float) -> float:
    """Return log(1 + exp(x)), without an overflow."""
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))
