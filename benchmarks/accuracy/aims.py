"""What naively set out to reach on tables and on texts, and what it reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.accuracy import peers
from benchmarks.accuracy.compare import at_least, at_most, gain, lowered, ratio, share
from benchmarks.accuracy.report import Summary

MANY = 3_000  # rows, from which on calibration is asked for as such


def on_tables(found: Summary) -> str:
    """Return the aims on tables, a line each."""
    pure, default, pairs = (c.name for c in (peers.PURE, peers.DEFAULT, peers.INTERACTIONS))
    lines = [f"Aims on tables, 2-fold ({default!r} is the default, {pure!r} for comparison)"]
    for name in (pure, default, pairs):
        if found.values("log_loss", name):
            lines += _on_tables(found, name)
    lines += [*taken_as_they_are(found, default), *assessed(found, default)]
    if found.values("log_loss", pairs):
        lines += _with_interactions(found, pairs)
    return "\n  ".join(lines)


def _on_tables(found: Summary, name: str) -> Iterator[str]:
    loss, accuracy = found.values("log_loss", name), found.values("accuracy", name)
    best = found.least(contender.name for contender in peers.NAIVE_BAYES)
    logistic, boosting, khiops = peers.LOGISTIC.name, peers.BOOSTING.name, peers.KHIOPS.name
    logistic_loss = found.values("log_loss", logistic)
    yield at_most(
        f"{name}: log loss / best scikit-learn naive Bayes, geometric mean", ratio(loss, best), 0.60
    )
    yield at_least(f"{name}: log loss at most the best of theirs", share(loss, best), 0.95)
    yield at_least(f"{name}: log loss at most {logistic}'s", share(loss, logistic_loss), 0.65)
    boosting_loss = found.values("log_loss", boosting)
    yield at_least(f"{name}: log loss at most {boosting}'s", share(loss, boosting_loss), 0.70)
    yield at_least(
        f"{name}: accuracy within 1 point of {logistic}'s",
        share(lowered(found.values("accuracy", logistic), 0.01), accuracy),
        0.75,
    )
    yield at_most(
        f"{name}: log loss / {khiops}', geometric mean",
        ratio(loss, found.values("log_loss", khiops)),
        0.90,
    )
    ece, floor = found.values("ece", name), found.values("floor", name)
    many = {table: ece[table] for table in ece if found.rows[table] >= MANY}
    few = [ece[table] - floor[table] for table in ece if table not in many]
    yield at_least(
        f"{name}: ECE at most 0.03 (tables of {MANY:,} rows or more)", share(many, 0.03), 0.80
    )
    yield at_most(
        f"{name}: ECE above its noise, mean of smaller tables",
        float(np.mean(few or [np.nan])),
        0.01,
    )


def _with_interactions(found: Summary, name: str) -> Iterator[str]:
    boosting = peers.BOOSTING.name
    more = gain(found.values("accuracy", name), found.values("accuracy", boosting))
    yield at_least(f"{name}: mean accuracy less {boosting}'s", more, 0.0)
    loss = found.values("log_loss", name)
    for peer in (peers.LOGISTIC.name, boosting):
        share_of_tables = share(loss, found.values("log_loss", peer))
        yield at_least(f"{name}: log loss at most {peer}'s", share_of_tables, 0.70)


def taken_as_they_are(found: Summary, name: str) -> Iterator[str]:
    if found.trials(name):
        failed = sum(bool(trial.failed) for trial in found.trials(name))
        yield at_most(f"{name}: tables with an error or a NaN", failed, 0)


def assessed(found: Summary, name: str) -> Iterator[str]:
    by_assess = ratio(found.values("assessed", name), found.values("log_loss", name))
    aim = f"{name}: log loss by assess() / on other rows, geometric mean"
    yield at_least(aim, by_assess, 0.95)
    yield at_most(aim, by_assess, 1.05)


def on_speed(times_faster: float) -> str:
    """Return the aim on the time to fit adult.csv."""
    aim = (
        "fit of adult.csv / OrdinalEncoder, CategoricalNB and CalibratedClassifierCV(cv=5), seconds"
    )
    return "  " + at_most(aim, 1 / times_faster, 1)


def on_texts(found: Summary) -> str:
    """Return the aims on texts, a line each."""
    lines = ["Aims on texts"]
    for contender in peers.OURS_ON_TEXT:
        if found.values("log_loss", contender.name):
            lines += _on_texts(found, contender.name)
            lines += assessed(found, contender.name) if contender.assesses else []
    return "\n  ".join(lines)


def _on_texts(found: Summary, name: str) -> Iterator[str]:
    loss, accuracy = found.values("log_loss", name), found.values("accuracy", name)
    ece, fit = found.values("ece", name), found.values("fit", name)
    words, logistic = peers.MULTINOMIAL_WORDS.name, peers.LOGISTIC_WORDS.name
    svc, pairs = peers.SVC_WORDS.name, peers.LOGISTIC_PAIRS.name
    yield at_most(
        f"{name}: log loss / {words}'s, geometric mean",
        ratio(loss, found.values("log_loss", words)),
        0.30,
    )
    yield at_least(
        f"{name}: log loss at most {logistic}'s",
        share(loss, found.values("log_loss", logistic)),
        0.90,
    )
    yield at_least(
        f"{name}: accuracy at least {words}'s", share(found.values("accuracy", words), accuracy), 1
    )
    yield at_least(
        f"{name}: accuracy within 1 point of {svc}'s",
        share(lowered(found.values("accuracy", svc), 0.01), accuracy),
        0.80,
    )
    yield at_least(f"{name}: ECE at most 0.03", share(ece, 0.03), 0.80)
    yield at_most(f"{name}: greatest ECE", max(ece.values()), 0.05)
    for text, aim in {"sms_spam": 0.985, "enron_spam": 0.99, "newsgroups20": 0.82}.items():
        if text in accuracy:
            yield at_least(f"{name}: accuracy on {text}", accuracy[text], aim)
    yield at_least(f"{name}: fit no slower than {pairs}", share(fit, found.values("fit", pairs)), 1)
