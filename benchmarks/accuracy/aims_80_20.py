"""What naively set out to reach on tables beside its own baseline, trained on four fifths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.accuracy import peers
from benchmarks.accuracy.aims import assessed, taken_as_they_are
from benchmarks.accuracy.compare import at_least, at_most, gain, ratio, share, times, worse
from benchmarks.accuracy.report import Summary

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


def on_tables(found: Summary) -> str:
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
