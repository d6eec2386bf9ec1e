"""What a model of mail holds, as facts and tables: the strongest words, and what two say apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from naively.messages import amount, many
from naively.wings.mail.evaluation import guaranteed, share_of
from naively.wings.mail.score import weight_of_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from naively.wings.mail.table import MailTable

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


Change = tuple[str, float, float, float, float, float, float]


def differences(before: MailTable, after: MailTable, top: int) -> list[Change]:
    """Return the words whose weight for spam changed most, with their counts and weights."""
    # Each is the word, its ham and spam before, its ham and spam after, and its weight before and
    # after; a weight is 0 before both classes were learned.
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
