"""Ten years of one mailbox, whose words change: ``python -m benchmarks.mail_years``.

Real mail (Enron) comes in its order, in ten years of twelve months. Each month is filtered, then
learned. From year to year words get other names, those of spam more often, and some words take each
other's names, so that what was a word of spam becomes one of good mail. Models that keep all are
compared with those that expire words, and with those that let counts fade.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from operator import itemgetter
from pathlib import Path

from benchmarks.mail import Example, Record, as_mail, words_and_class
from naively.wings.mail.about import Judged
from naively.wings.mail.learn import refitted
from naively.wings.mail.score import Verdict, WordWeights, leave_one_out_histogram
from naively.wings.mail.table import MailTable

YEARS, MONTHS = 10, 12
RENAMED = {False: 0.1, True: 0.3}  # of the words a year, by whether they are more in spam
SWAPPED = 0.1  # of the words a year, with one about as frequent
DAYS = 30  # of a month
FIRST_DAY = 10_000

Policy = Callable[[MailTable, int], MailTable]  # what is done with a table at the end of a month
POLICIES: dict[str, Policy] = {
    "all is kept": lambda table, _: table,
    "expire --days 1080": lambda table, day: table.without_words_before(day - 1080),
    "expire --days 360": lambda table, day: table.without_words_before(day - 360),
    "expire --days 180": lambda table, day: table.without_words_before(day - 180),
    "decay 0.94 a month": lambda table, _: refitted(table.decayed(0.94)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1800, help="of a year")
    options = parser.parse_args()
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no mail to measure on")
    with gzip.open(Path(folder, "text", "enron_spam.jsonl.gz"), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    years = drifting(in_time(records, YEARS * options.messages), options.messages)
    print(f"{YEARS} years of {options.messages:,} messages (Enron by date, words renamed)")
    print(
        f"{'':22} {'wrong by year':52} {'all':>6} {'ham':>5} {'log loss':>8} {'words':>9} {'MB':>5}"
    )
    for name, policy in POLICIES.items():
        live(name, policy, years)


def in_time(records: list[Record], n: int) -> list[Example]:
    """Return so many messages, those of each class by date, and both spread over all the time.

    The good mail is older than the spam, so that dates themselves would tell which is which.
    """
    chosen = random.Random(0).sample(records, n)
    placed = []
    for label in "ham", "spam":
        of = sorted((each for each in chosen if each["label"] == label), key=itemgetter("date"))
        placed += [(i / len(of), label, each) for i, each in enumerate(of)]
    ordered = [each for _, _, each in sorted(placed, key=itemgetter(0, 1))]
    return list(words_and_class(map(as_mail, ordered)))


def drifting(mails: list[Example], each: int) -> list[list[Example]]:
    """Return years of mail, the words of each with the names that they have in it."""
    draw = random.Random(1)
    found: Counter[str] = Counter()
    balance: Counter[str] = Counter()
    for words, c in mails:
        found.update(words)
        for word in words:
            balance[word] += 2 * c - 1
    ordered = [word for word, _ in found.most_common()]
    named = {word: word for word in ordered}
    rest, years = iter(mails), []
    for year in range(YEARS):
        years.append([([named[word] for word in words], c) for words, c in islice(rest, each)])
        for word, next_ in zip(ordered[::2], ordered[1::2], strict=False):
            if draw.random() < SWAPPED:
                named[word], named[next_] = named[next_], named[word]
        for word in ordered:
            if draw.random() < RENAMED[balance[word] > 0]:
                named[word] = f"{word}~{year}"
    return years


def live(name: str, policy: Policy, years: list[list[Example]]) -> None:
    """Filter and learn month by month, and print what came of it."""
    table, day = MailTable.empty(), FIRST_DAY
    found: list[tuple[float, int, str]] = []
    wrong, words = [], []
    for year, mails in enumerate(years):
        size = -(-len(mails) // MONTHS)
        for begin in range(0, len(mails), size):
            month = mails[begin : begin + size]
            weights = WordWeights(table)
            found += [(Verdict(weights, of).probability, c, str(year)) for of, c in month]
            table = policy(learned(table, month, day), day)
            day += DAYS
            words.append(len(table))
        wrong.append(sum(1 for p, c, when in found if when == str(year) and (p > 0.5) != c))
    later = Judged([each for each in found if each[2] != "0"])  # a filter begins with nothing
    lost, missed = later.at(0.5)
    by_year = " ".join(f"{n:4}" for n in wrong)
    size_now = len(table.to_bytes()) / 1e6
    print(
        f"{name:22} {by_year:52} {lost + missed:6,} {lost:5,} {later.log_loss:8.4f} "
        f"{max(words[MONTHS:]):9,} {size_now:5.1f}",
        flush=True,
    )


def learned(table: MailTable, month: list[Example], day: int) -> MailTable:
    """Return the table with a month of mail learned on a day, and the temperature that fits."""
    counts: dict[str, list[int]] = {}
    messages = [0, 0]
    for words, c in month:
        messages[c] += 1
        for word in words:
            counts.setdefault(word, [0, 0])[c] += 1
    new = table.add({word: (h, s) for word, (h, s) in counts.items()}, tuple(messages), day)
    return refitted(new.add_histogram(leave_one_out_histogram(new, month)))


if __name__ == "__main__":
    main()
