"""What was reached, as tables and as one number, beside what naively set out to reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.accuracy import peers
from benchmarks.accuracy.trial import Trial, Trials

# --- Compare -------------------------------------------------------------------------------------
#
# How aims are told: what contenders reached on many data sets, in one number, beside a bound.


Values = Mapping[str, float]  # of a measure, by data set
NOTHING = 1e-3  # a log loss that is as good as 0


def ratio(ours: Values, theirs: Values) -> float:
    """Geometric mean of ratios, over the data sets that both have.

    A log loss counts as 0.001 at least: below, a ratio says nothing that matters, and one table
    that a peer solves would outweigh all others.
    """
    both = [name for name in ours if name in theirs]
    logs = [np.log(max(ours[name], NOTHING) / max(theirs[name], NOTHING)) for name in both]
    return float(np.exp(np.mean(logs))) if logs else float("nan")


def share(less: Values, more: Values | float) -> float:
    """Share of data sets where the one is at most the other, or a bound."""
    bound = dict.fromkeys(less, more) if isinstance(more, int | float) else more
    both = [less[name] <= bound[name] for name in less if name in bound]
    return float(np.mean(both)) if both else float("nan")


def gain(ours: Values, theirs: Values) -> float:
    """Mean of differences, over the data sets that both have."""
    both = [ours[name] - theirs[name] for name in ours if name in theirs]
    return float(np.mean(both)) if both else float("nan")


def times(ours: Values, theirs: Values) -> float:
    """Median of ratios, over the data sets that both have."""
    both = [ours[name] / theirs[name] for name in ours if name in theirs]
    return median(both) if both else float("nan")


def worse(ours: Values, theirs: Values, share: float) -> list[str]:
    """Name the data sets where a log loss is greater by more than this share, from 0.001 on."""
    bound = {name: (1 + share) * max(loss, NOTHING) for name, loss in theirs.items()}
    return sorted(name for name in ours if name in bound and ours[name] > bound[name])


def lowered(values: Values, by: float) -> Values:
    return {name: value - by for name, value in values.items()}


def at_most(name: str, value: float, aim: float) -> str:
    return _told(name, value, f"at most {aim:g}", value <= aim)


def at_least(name: str, value: float, aim: float) -> str:
    return _told(name, value, f"at least {aim:g}", value >= aim)


def _told(name: str, value: float, aim: str, reached: bool) -> str:
    verdict = "not measured" if np.isnan(value) else "reached" if reached else "missed"
    return f"{name}: {value:.3f} (aim: {aim}; {verdict})"


# --- Results as plain text: a table a data set, and the means ------------------------------------


COLUMNS = {
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "ece": "ECE",
    "floor": "(noise)",
    "auc": "AUC",
    "fit": "fit ms",
    "predict": "predict ms",
}


def data_set(results: Trials) -> str:
    """One data set: a line a contender."""
    lines = ["", f"{results.name}, {results.split}: {results.about}"]
    if results.trials:
        lines.append(_line("", list(COLUMNS.values())))
    for trial in results.trials:
        if trial.skipped:
            continue
        if trial.failed:
            lines.append(f"  {trial.contender:<28} FAILED {trial.failed}")
        else:
            lines.append(_line(trial.contender, _cells(trial.means)))
    return "\n".join(lines)


def _line(name: str, cells: Iterable[str]) -> str:
    return f"  {name:<28}" + "".join(f"{cell:>11}" for cell in cells)


def _cells(means: dict[str, float]) -> list[str]:
    cells = []
    for name in COLUMNS:
        value = means.get(name)
        digits, scale = (1, 1e3) if name in {"fit", "predict"} else (4, 1)
        cells.append("" if value is None else f"{value * scale:.{digits}f}")
    return cells


class Summary:
    """All results of a run with one way of splitting, by data set and contender."""

    def __init__(self, results: Sequence[Trials]) -> None:
        self.results = [one for one in results if one.trials]
        self.unread = [one for one in results if not one.trials]
        self.by_name = {
            one.name: {trial.contender: trial for trial in one.trials} for one in self.results
        }
        self.rows = {one.name: one.rows for one in self.results}

    def contenders(self) -> list[str]:
        return list(dict.fromkeys(t.contender for one in self.results for t in one.trials))

    def trials(self, contender: str) -> list[Trial]:
        return [by[contender] for by in self.by_name.values() if contender in by]

    def values(self, measure: str, contender: str) -> dict[str, float]:
        """Return a measure by data set, where the contender has it."""
        return {t.task: t.means[measure] for t in self.trials(contender) if measure in t.means}

    def seconds(self, contender: str) -> dict[str, float]:
        """Return the least time to fit in several rounds, in turn with the others of ours."""
        return {
            one.name: one.fit_seconds[contender]
            for one in self.results
            if contender in one.fit_seconds
        }

    def least(self, contenders: Iterable[str]) -> dict[str, float]:
        """Return the least log loss of several, by data set."""
        losses = [self.values("log_loss", contender) for contender in contenders]
        names = dict.fromkeys(name for loss in losses for name in loss)
        return {name: min(loss[name] for loss in losses if name in loss) for name in names}

    def losses(self) -> str:
        """Log loss by data set; of several scikit-learn naive Bayes, of the best."""
        several = {contender.name for contender in peers.NAIVE_BAYES} & set(self.contenders())
        columns = {"best naive Bayes": self.least(several)} if len(several) > 1 else {}
        for name in self.contenders():
            loss = self.values("log_loss", name)
            if loss and not (columns and name in several):
                columns[name] = loss
        widths = [max(len(name), 8) + 2 for name in columns]
        rows = {"": list(columns)}
        for name in sorted(self.by_name):
            rows[name] = [f"{loss[name]:.4f}" if name in loss else "" for loss in columns.values()]
        lines = ["", "Log loss"]
        for name, cells in rows.items():
            joined = "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
            lines.append(f"  {name:<18}{joined}")
        return "\n".join(lines)

    def means(self) -> str:
        """Means over the data sets that a contender got through."""
        lines = ["", f"Means over {len(self.results)} data sets, each counting the same"]
        lines.append(_line("", [*COLUMNS.values(), "data sets"]))
        for contender in self.contenders():
            done = [t.means for t in self.trials(contender) if t.means]
            if done:
                means = {k: float(np.mean([one[k] for one in done])) for k in done[0]}
                lines.append(_line(contender, [*_cells(means), str(len(done))]))
        return "\n".join(lines)

    def absent(self) -> str:
        """Return what was not measured, and why."""
        lines = [f"{one.name}: {one.about}" for one in self.unread]
        for contender in self.contenders():
            trials = self.trials(contender)
            reasons = Counter(trial.skipped for trial in trials if trial.skipped)
            lines += [
                f"not measured: {contender} on {sets} of {len(trials)} data sets: {reason}"
                for reason, sets in reasons.items()
            ]
            failed = [trial.task for trial in trials if trial.failed]
            if failed:
                lines.append(f"failed: {contender} on {', '.join(failed)}")
        return "\n".join(lines)


# --- What naively set out to reach on tables and on texts, and what it reached -------------------


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


# --- What naively set out to reach on tables beside its own baseline, trained on four fifths -----


MORE = 0.02  # of the baseline's log loss: a table of more than this above it is worse


@dataclass(frozen=True)
class Aims:
    """What one of ours is to reach.

    Parameters
    ----------
    log_loss : float
        Its ratio to the baseline's, at most, as the geometric mean over the tables.
    accuracy : float
        Its mean above the baseline's, at least.
    as_accurate : mapping
        By peer, the share of tables on which it is at least as accurate.
    as_sure : mapping
        By peer, the share of tables on which its log loss is at most the peer's.
    worse : int
        Tables on which its log loss is more than 2 % above the baseline's, at most.
    fit : float
        The ratio of its time to fit to the baseline's, at most, as the median over the tables.
    """

    log_loss: float
    accuracy: float
    as_accurate: Mapping[str, float]
    as_sure: Mapping[str, float]
    worse: int
    fit: float


FOREST, STOPPED, ADDITIVE, LOGISTIC = (
    one.name for one in (peers.FOREST, peers.STOPPED, peers.ADDITIVE, peers.LOGISTIC)
)
AIMS = {
    peers.DEFAULT.name: Aims(
        log_loss=0.86,
        accuracy=0.010,
        as_accurate={FOREST: 0.58, STOPPED: 0.58, LOGISTIC: 0.82},
        as_sure={FOREST: 0.70, STOPPED: 0.55, ADDITIVE: 0.60, LOGISTIC: 0.77},
        worse=0,
        fit=1.4,
    ),
    peers.INTERACTIONS.name: Aims(
        log_loss=0.80,
        accuracy=0.018,
        as_accurate={FOREST: 0.60, STOPPED: 0.66, LOGISTIC: 0.85},
        as_sure={FOREST: 0.75, STOPPED: 0.65, ADDITIVE: 0.65, LOGISTIC: 0.80},
        worse=3,
        fit=3.0,
    ),
}


def on_tables_80_20(found: Summary) -> str:
    """Return the aims on tables, a line each."""
    lines = [f"Aims on tables, 80/20 ({peers.BEFORE.name!r} is the baseline)"]
    for name, aims in AIMS.items():
        if found.trials(name):
            lines += _beside_the_baseline(found, name, aims)
            lines += _beside_peers(found, name, aims)
            lines += [*taken_as_they_are(found, name), *assessed(found, name)]
    return "\n  ".join(lines)


def _beside_the_baseline(found: Summary, name: str, aims: Aims) -> Iterator[str]:
    before = peers.BEFORE.name
    loss, loss_before = (found.values("log_loss", one) for one in (name, before))
    yield at_most(
        f"{name}: log loss / {before}'s, geometric mean", ratio(loss, loss_before), aims.log_loss
    )
    yield at_least(
        f"{name}: mean accuracy less {before}'s",
        gain(found.values("accuracy", name), found.values("accuracy", before)),
        aims.accuracy,
    )
    yield at_most(
        f"{name}: mean ECE less {before}'s",
        gain(found.values("ece", name), found.values("ece", before)),
        0,
    )
    tables = worse(loss, loss_before, MORE)
    measured = loss.keys() & loss_before.keys()
    yield at_most(
        f"{name}: tables whose log loss is more than {MORE:.0%} above {before}'s",
        len(tables) if measured else float("nan"),
        aims.worse,
    )
    for table in tables:
        yield f"  {table}: {loss[table]:.4f}, before {loss_before[table]:.4f}"
    yield at_most(
        f"{name}: time to fit / {before}'s, median",
        times(found.seconds(name), found.seconds(before)),
        aims.fit,
    )


def _beside_peers(found: Summary, name: str, aims: Aims) -> Iterator[str]:
    accuracy, loss = found.values("accuracy", name), found.values("log_loss", name)
    for peer, aim in aims.as_accurate.items():
        reached = share(found.values("accuracy", peer), accuracy)
        yield at_least(f"{name}: at least as accurate as {peer}", reached, aim)
    for peer, aim in aims.as_sure.items():
        reached = share(loss, found.values("log_loss", peer))
        yield at_least(f"{name}: log loss at most {peer}'s", reached, aim)
