"""A program of a user, whose types are checked as strictly as can be; and which runs."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from naively import Gaussian, NaiveBayes, Text, load

MAILS = {
    "subject": [*(["win a prize", "claim your prize"] * 75), *(["lunch at noon", "notes"] * 75)],
    "length": list(range(300)),
}
LABELS = ["spam"] * 150 + ["ham"] * 150


def learn() -> NaiveBayes:
    nb = NaiveBayes({"length": Gaussian(), "subject": Text()}, smoothing=1.0, random_state=0)
    return nb.fit(MAILS, LABELS)


def judge(nb: NaiveBayes) -> float:
    scores = nb.assess()
    judged = nb.evaluate(MAILS, LABELS)
    gap: float = judged.accuracy - scores.accuracy
    print(scores.log_loss, scores.intervals, gap, judged.majority, judged.by_class)
    return judged.log_loss + nb.score(MAILS, LABELS)


def ask(nb: NaiveBayes) -> list[str]:
    p = nb.predict_proba(MAILS)
    labels = nb.predict(MAILS)
    sure: bool = bool(np.all(np.abs(p.sum(axis=1) - 1) < 1e-9))
    lines: list[str] = [f"{labels[0]} {sure} {p.shape[0]}"]
    for explanation in nb.explain(MAILS):
        evidence: float = explanation.log_likelihood.sum(axis=0).max()
        lines.append(f"{explanation} {evidence:.3f} {explanation.column[0]}")
    low = nb.predict_interval(MAILS, 0.9)
    sets = nb.predict_set(MAILS, 0.9)
    return [*lines, str(low), str(sets)]


def look(nb: NaiveBayes) -> str:
    strongest = nb.inspect.strongest()
    column = nb.inspect.column("length")
    curve = nb.curve.learning(MAILS, LABELS)
    return f"{strongest}\n{column}\n{curve}\n{nb.inspect.parameters()}"


def hand_over(nb: NaiveBayes, folder: Path) -> NaiveBayes:
    nb.export.scorecard().save(folder / "model.json")
    numbers = NaiveBayes().fit({"length": MAILS["length"]}, LABELS)
    query: str = numbers.export.sql("mails", probabilities=True)
    (folder / "query.sql").write_text(query, encoding="utf-8")
    kept = io.BytesIO()
    nb.save(kept)
    nb.save(folder / "model.naively", keep_rows=True)
    return load(folder / "model.naively")


def algebra(nb: NaiveBayes) -> bool:
    one = {"subject": ["a prize"], "length": [3]}
    more = learn().partial_fit(one, ["spam"]).forget(one, ["spam"])
    noisy = NaiveBayes("bernoulli").fit({"wet": [1, 0]}, LABELS[149:151]).export.with_noise(1.0)
    both = nb.tally_ + nb.tally_ - nb.tally_
    model = (nb.model_ + nb.model_) * 0.5
    known = len(model.classes) + len(more.merge(nb).classes_) + len(noisy.classes_)
    return bool(both.class_count.sum() == nb.class_count_.sum()) and known > 0


def main() -> None:
    nb = learn()
    with TemporaryDirectory() as folder:
        again = hand_over(nb, Path(folder))
    print(judge(nb), *ask(again), look(again), algebra(again), sep="\n")


if __name__ == "__main__":
    main()
