"""What was reached, as tables, and where naively stands beside each of its peers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from benchmarks.accuracy import peers
from benchmarks.accuracy.trial import Trial, Trials

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


def share(less: Values, more: Values) -> float:
    """Share of the data sets that both have where the one is at most the other."""
    both = [less[name] <= more[name] for name in less if name in more]
    return float(np.mean(both)) if both else float("nan")


def gain(ours: Values, theirs: Values) -> float:
    """Mean of differences, over the data sets that both have."""
    both = [ours[name] - theirs[name] for name in ours if name in theirs]
    return float(np.mean(both)) if both else float("nan")


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


# --- Each of ours beside each peer ---------------------------------------------------------------


BESIDE = "log loss / theirs", "as low", "accuracy more", "as accurate", "data sets"


def beside(found: Summary) -> str:
    """Return a line for each peer of each of ours, over the data sets that both have."""
    lines: list[str] = []
    for name in [one for one in found.contenders() if one.startswith("naively")]:
        lines += ["", f"{name + ' beside':<30}" + "".join(f"{of:>19}" for of in BESIDE)]
        loss, accuracy = found.values("log_loss", name), found.values("accuracy", name)
        for peer in [one for one in found.contenders() if not one.startswith("naively")]:
            theirs, right = found.values("log_loss", peer), found.values("accuracy", peer)
            both = len(accuracy.keys() & right.keys())
            numbers = [
                ratio(loss, theirs), share(loss, theirs), gain(accuracy, right),
                share(right, accuracy),
            ]  # fmt: skip
            cells = ["" if np.isnan(of) else f"{of:.3f}" for of in numbers] + [str(both)]
            lines.append(f"  {peer:<28}" + "".join(f"{cell:>19}" for cell in cells))
        failed = sum(bool(of.failed) for of in found.trials(name))
        lines.append(f"  {failed} data sets with an error or a NaN")
        by_itself = ratio(found.values("assessed", name), loss)
        if not np.isnan(by_itself):
            lines.append(f"  log loss by assess() / on other rows: {by_itself:.3f}")
    return "\n".join(lines)
