"""The verb `evaluate`: how good a model is on mail whose class is known."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

from naively.messages import many, visible
from naively.wings.mail.about import THRESHOLDS, Judged, judged_of, upper_bound
from naively.wings.mail.passage import say
from naively.wings.mail.table import open_table
from naively.wings.mail.verbs.learn import messages_of
from naively.wings.mail.verbs.options import contacts_of


def run(options: SimpleNamespace) -> int:
    """Judge the model, and return the exit status."""
    table, contacts = open_table(options.model), contacts_of(options.contacts)
    judged = judged_of(table, messages_of(options), contacts)
    if judged.learned:
        say(
            f"Note: the model has learned {many(judged.learned, 'message')} of these, on which it "
            "is better than on others."
        )
    sys.stdout.write(_as_json(judged, options) if options.json else _as_text(judged, options))
    return 0


def _as_text(judged: Judged, options: SimpleNamespace) -> str:
    lost, missed = judged.at(options.threshold)
    lines = [
        f"{many(len(judged.found), 'message')}: {judged.ham:,} ham, {judged.spam:,} spam.",
        f"Wrong at {options.threshold:g}: {lost + missed:,}, of which {lost:,} of ham.",
        f"Log loss {judged.log_loss:.4f} nats, calibration error {judged.calibration_error:.4f}.",
        "",
        "threshold  ham taken for spam  at most (95 %)  spam not found",
    ]
    for threshold in sorted({*THRESHOLDS, options.threshold}):
        lost, missed = judged.at(threshold)
        bound = f"{upper_bound(lost, judged.ham):.2%}" if judged.ham else "-"
        lines.append(f"{threshold:9g}  {lost:18,}  {bound:>14}  {missed:14,}")
    errors = judged.errors(options.threshold)
    if errors:
        lines += ["", "probability  class  message"]
    lines += [f"{p:11.4f}  {'spam' if c else 'ham':5}  {visible(name)}" for p, c, name in errors]
    return "\n".join(lines) + "\n"


def _as_json(judged: Judged, options: SimpleNamespace) -> str:
    thresholds = sorted({*THRESHOLDS, options.threshold})
    whole = {
        "messages": len(judged.found),
        "ham": judged.ham,
        "spam": judged.spam,
        "log_loss": judged.log_loss,
        "calibration_error": judged.calibration_error,
        "thresholds": [
            {"threshold": t, "ham_taken_for_spam": judged.at(t)[0], "spam_missed": judged.at(t)[1]}
            for t in thresholds
        ],
        "errors": [
            {"probability": p, "class": "spam" if c else "ham", "message": name}
            for p, c, name in judged.errors(options.threshold)
        ],
    }
    return json.dumps(whole) + "\n"
