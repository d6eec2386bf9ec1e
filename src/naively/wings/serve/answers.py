"""What is answered about rows, and the description of it that other programs read: OpenAPI 3.1."""

from __future__ import annotations

import datetime as dt
from functools import cached_property

import numpy as np

from naively.file.store import Content
from naively.inspect.explain import ExplainedRow, explain
from naively.messages import many
from naively.model.class_prior import MOST_PROBABLE, UNSURE, Decision
from naively.tabular import json_value
from naively.wings.serve import MAX_CELLS, MAX_EVIDENCE
from naively.wings.serve.rows import Json, RequestError, RowForm, Value

WEIGHT: Json = {"type": ["number", "string", "null"]}  # infinity is a string
TOGETHER = 10  # rows that are explained at a time


class ModelAnswers:
    """What a model answers."""

    def __init__(
        self,
        found: Content,
        *,
        strict: bool = False,  # whether a key that is no column is refused
        most: int | None = None,  # how many rows are taken at once
        decision: Decision = MOST_PROBABLE,
        identity: Json | None = None,  # the digest of the model file, and when it was changed
    ) -> None:
        self.found, self.decision, self.identity = found, decision, identity or {}
        target, left_out = (found.provenance.get(name) for name in ("target", "left_out"))
        said = [target, *(left_out if isinstance(left_out, list) else [])]
        left_out = [name for name in said if isinstance(name, str)]
        self.form = RowForm(found.model, strict=strict, left_out=left_out)
        self.labels = [_plain(label) for label in found.model.classes.tolist()]
        self.keys = [of if isinstance(of, str) else str(of).lower() for of in self.labels]
        each = len(self.form.columns) + len(self.labels)
        self.most = None if most is None else max(1, min(most, MAX_CELLS // each))

    def of(self, given: Value, explain_top: int = 0) -> Json:
        """Return the answer to a row or a list of rows."""
        rows, notes = self.form.read(given, self.most)
        if len(rows) * explain_top > MAX_EVIDENCE:
            raise RequestError(
                413,
                f"The request asks for {explain_top:,} weights of evidence of {len(rows):,} rows; "
                f"together they may be {MAX_EVIDENCE:,}: ask for fewer by explain=, or send fewer.",
            )
        if not len(rows):
            return {"predictions": [], "notes": notes, "model": self.identity}
        model = self.found.model
        try:
            p = self.decision.posterior(model.posterior(rows))
            parts = (rows.take(slice(i, i + TOGETHER)) for i in range(0, len(rows), TOGETHER))
            reasons = (row for part in parts for row in explain(model, part))
        except ValueError as error:  # of numbers, say, that an event model does not have
            raise RequestError(422, str(error)) from error
        best, unsure = (of.tolist() for of in self.decision.answers(p))
        predictions = []
        for i, (c, row) in enumerate(zip(best, p.tolist(), strict=True)):
            predictions.append({
                "label": UNSURE if unsure[i] else self.labels[c],
                "probability": row[c],
                "probabilities": dict(zip(self.keys, row, strict=True)),
            })  # fmt: skip
            if explain_top:
                predictions[-1]["explanation"] = self._why(next(reasons), c, explain_top)
        return {"predictions": predictions, "notes": notes, "model": self.identity}

    def _why(self, row: ExplainedRow, c: int, n: int) -> Json:
        """Return the weights of evidence of greatest weight, and the sum of all others."""
        if self.decision.prior is not None:
            row = row.under(*self.decision.prior)
        items = row.top(c)
        shown = [
            {"column": column, "value": _plain(value), "weight": json_value(weight)}
            for column, value, weight in items[:n]
        ]
        rest = sum((weight for _, _, weight in items[n:]), start=0.0)
        return {
            "label": self.labels[c],
            "against": self.labels[row.rival(c)],
            "log_odds": json_value(row.log_odds(c)),
            "evidence": shown,
            "rest": json_value(rest),
        }

    @cached_property
    def openapi(self) -> Json:
        """The description of all that can be asked."""
        from naively import __version__

        target = self.found.provenance.get("target")
        title = f"What predicts {target}" if target else "A naive Bayes model"
        return {
            "openapi": "3.1.0",
            "info": {"title": title, "version": __version__},
            "paths": {"/predict": {"post": self._predict}, **PATHS},
            "components": {"schemas": {"Row": self.form.schema, **self._schemas}},
        }

    @property
    def _predict(self) -> Json:
        rows: Json = {"type": "array", "items": _ref("Row")}
        if self.most is not None:
            rows["maxItems"] = self.most
        taken = {"schema": {"anyOf": [_ref("Row"), rows]}, "example": self.form.example}
        content: Json = {"application/json": taken}
        again = {
            "description": "After how many seconds to ask again.", "schema": {"type": "integer"}
        }  # fmt: skip
        if self.form.of_text:
            content["text/plain"] = {"schema": {"type": "string"}}
        return {
            "operationId": "predict",
            "summary": "The class of each row, with its probability.",
            "description": self._how,
            "parameters": [{
                "name": "explain",
                "in": "query",
                "description": "How many weights of evidence each answer shows; those of all "
                f"rows are {MAX_EVIDENCE:,} at most.",
                "schema": {"type": "integer", "minimum": 0, "maximum": MAX_EVIDENCE, "default": 0},
            }],
            "requestBody": {"required": True, "content": content},
            "responses": {
                "200": _json("The answers, in the order of the rows.", _ref("Answers")),
                "400": _json("The body is not JSON.", _ref("Refusal")),
                "413": _json("There are too many rows or bytes.", _ref("Refusal")),
                "422": _json("The rows are not what the model takes.", _ref("Refusal")),
                "503": {
                    **_json("There is too much to do.", _ref("Refusal")),
                    "headers": {"Retry-After": again},
                },
            },
        }  # fmt: skip

    @property
    def _schemas(self) -> Json:
        label = {"enum": self.labels}
        answer = {"enum": [*dict.fromkeys([*self.labels, UNSURE])]}
        p = {"type": "number", "minimum": 0, "maximum": 1}
        return {
            "Answers": _object({
                "predictions": {"type": "array", "items": _ref("Prediction")},
                "notes": {"type": "array", "items": {"type": "string"}},
                "model": _ref("Model"),
            }),
            "Model": _object(
                {"digest": {"type": "string"}, "time": {"type": "string"}},
                description="The SHA-256 of the model file that answered, and when it was last "
                "changed.",
            ),
            "Prediction": _object({
                "label": label if self.decision.reject is None else answer,
                "probability": p,
                "probabilities": _object(dict.fromkeys(self.keys, p)),
                "explanation": _ref("Explanation"),
            }, required=["label", "probability", "probabilities"]),
            "Explanation": _object({
                "label": label,
                "against": label,
                "log_odds": WEIGHT,
                "evidence": {"type": "array", "items": _ref("Evidence")},
                "rest": WEIGHT,
            }, description="The weights of evidence, in nats, for a class against the one that "
            "comes next; with the rest they sum to the log odds."),
            "Evidence": _object({"column": {"type": "string"}, "value": {}, "weight": WEIGHT}),
            "Refusal": _object({"error": {"type": "string"}}),
        }  # fmt: skip

    @property
    def _how(self) -> str:
        """How answers follow from what the model has learned, in sentences."""
        prior, cost, reject = self.decision
        said = ["The answer is the most probable class."]
        if cost is not None:
            usual = 1.0 - np.eye(len(cost))
            costs = ", ".join(
                f"{self.keys[right]}:{self.keys[answer]}={cost[right, answer]:g}"
                for right, answer in np.argwhere(cost != usual).tolist()
            )
            told = f" ({costs}, else 1 of what is wrong)" if costs else ""
            said = [f"The answer is that of least expected cost{told}."]
        if reject is not None:
            said.append(f'It is "{UNSURE}" where it is less probable than {reject:g}.')
        if prior is not None:
            shares = ", ".join(
                f"{key}={share:g}" for key, share in zip(self.keys, prior[1].tolist(), strict=True)
            )
            said.append(f"The class prior is {shares}.")
        return " ".join(said)

    @property
    def described(self) -> str:
        """What the model is, in a few words."""
        rows = float(self.found.model.counted.tally.class_count.sum())
        learned = many(round(rows), "row")
        columns, classes = many(len(self.form.columns), "column"), len(self.labels)
        return f"{learned}, {columns}, {classes:,} {'class' if classes == 1 else 'classes'}"


def _plain(value: object) -> Value:
    """Return a label or a cell as JSON has it; a time is written by ISO 8601."""
    match json_value(value):
        case dt.date() as moment:
            return moment.isoformat()
        case str() | int() | float() | None as plain:
            return plain
        case other:
            return str(other)


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(description: str, schema: Json) -> Json:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _object(properties: Json, **more: Value) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), **more}


def _get(name: str, summary: str, kind: str, schema: Json | None = None) -> Json:
    answer = {"description": summary, "content": {kind: {"schema": schema or {"type": "string"}}}}
    return {"get": {"operationId": name, "summary": summary, "responses": {"200": answer}}}


PATHS: Json = {
    "/": _get("report", "The report: what the model learned, and how good it is.", "text/html"),
    "/health": _get("health", "Which model answers.", "application/json", {"type": "object"}),
    "/metrics": _get(
        "metrics", "Counts of requests and rows, and how long they took.", "text/plain"
    ),
    "/openapi.json": _get("openapi", "This document.", "application/json", {"type": "object"}),
}
