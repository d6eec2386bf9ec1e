"""What the model is: what it learned from, and how; for who wants to know it exactly."""

from __future__ import annotations

import math

from naively.counting.axis import title
from naively.file.store import HISTORY
from naively.inspect.parameters import count_joint_parameters, count_parameters
from naively.messages import amount, many
from naively.model.model import Model
from naively.wings.report import html
from naively.wings.report.subject import Subject

# What a model file says about where the model comes from.
FILE = {
    "target": "predicted column",
    "rows": "rows of the file",
    "hold_out": "share held out when it was trained",
    "seed": "seed of that",
    "left_out": "columns that were left out",
}
WEIGHTS = {"loo": "one for each column, fitted on leave-one-out evidence", "temperature": "one"}


def facts_of(subject: Subject) -> list[tuple[str, object]]:
    """Return what the model learned from, and how, a name and a value each."""
    model, settings = subject.model, subject.model.settings
    count = model.counted.tally.class_count
    weights = "none: pure naive Bayes"
    if model.weights is not None:
        weights = WEIGHTS.get(model.weights.how, model.weights.how)
    facts: list[tuple[str, object]] = [
        ("rows", amount(float(count.sum()))),
        ("classes", len(count)),
        ("columns", model.view.schema.width),
        ("free parameters", count_parameters(model)),
        ("of a table of all cells together, without the naive assumption", _joint(model)),
        ("class prior", str(settings.class_prior)),
        ("estimate", settings.estimate),
        ("weights of the evidence", weights),
    ]
    if model.weights is not None and model.weights.linear:
        facts.append(("linear part", str(model.weights.linear)))
    facts += [
        (FILE.get(key, key), str(value))
        for key, value in subject.provenance.items()
        if key != HISTORY and value
    ]
    return facts


def about(subject: Subject) -> str:
    """Say what the model learned from, and how."""
    model, facts = subject.model, facts_of(subject)
    lines = "".join(
        f"<tr><th scope='row'>{html.escaped(name)}</th><td>{html.cell(value)}</td></tr>"
        for name, value in facts
    )
    found = f"<div class='wide' tabindex='0'><table><tbody>{lines}</tbody></table></div>"
    notes = [
        f"<li>{html.data(title(name))}: {html.data(note)}</li>"
        for name, note in model.described().notes.items()
    ]
    if notes:
        found += f"<h3>What was noticed of {many(len(notes), 'column')}</h3>"
        found += f"<ul>{''.join(notes)}</ul>"
    return found


def _joint(model: Model) -> str:
    """Say how many free parameters the full joint table has."""
    total = count_joint_parameters(model)
    if total == math.inf:
        return "no number, as a column holds numbers or texts"
    return f"{total:,}" if total < 10**12 else f"about 10^{len(str(total)) - 1}"
