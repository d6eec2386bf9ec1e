"""Runs the scorer of scorecards in R: many scorecards and tables in one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from naively.inspect.scorecard import Scorecard

SCORER = Path(__file__).parent.parent / "packages" / "r" / "naively.R"
PROGRAM = r"""
source(commandArgs(TRUE)[1])
read <- function(x) jsonlite::fromJSON(x, simplifyVector = FALSE)
missing_as <- function(of, na) lapply(of, function(x) if (is.null(x)) na else x)
column <- function(of, kind) {
  if (kind %in% c("number", "boolean")) return(.numbers(missing_as(of, NA_real_)))
  if (any(vapply(of, is.list, NA))) return(I(lapply(of, function(x) as.character(unlist(x)))))
  strings <- unlist(missing_as(of, NA_character_))
  if (kind == "time" && !any(grepl("now", strings))) return(as.POSIXct(strings, tz = "UTC",
    tryFormats = c("%Y-%m-%dT%H:%M:%OS", "%Y-%m-%d")))
  strings
}
tables <- new.env()
answer <- function(asked) {
  if (!is.null(asked$split)) {
    tokens <- .splitter(asked$split, .unicode_of(asked$unicode))
    return(lapply(asked$texts, function(text) as.list(tokens(text, FALSE))))
  }
  card <- asked$card
  kinds <- vapply(card$columns, function(of) of$kind, "")
  names <- vapply(card$columns, function(of) of$name, "")
  frame <- data.frame(row.names = seq_len(asked$rows))
  for (i in seq_along(names)) {
    if (names[i] %in% names(asked$columns)) {
      frame[[names[i]]] <- column(asked$columns[[names[i]]], kinds[i])
    }
  }
  predict(as_naively(card), frame, type = asked$what)
}
text <- function(found) {
  if (is.matrix(found) && is.numeric(found)) {
    digits <- function(i) lapply(unname(found[i, ]), sprintf, fmt = "%.17g")
    found <- lapply(seq_len(nrow(found)), digits)
  }
  found
}
asked <- read(file("stdin", encoding = "UTF-8"))
said <- function(e) list(error = conditionMessage(e))
answers <- lapply(asked, function(one) tryCatch(text(answer(one)), error = said))
cat(jsonlite::toJSON(answers, auto_unbox = TRUE, digits = NA))
"""


def ask(questions: list[dict[str, Any]]) -> list[Any]:
    """Return the answer to each question: of a scorecard and a table, or how texts are split."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not on this machine: no scorecard is scored in R")
    done = subprocess.run(
        [rscript, "-e", PROGRAM, str(SCORER)],
        input=json.dumps(questions, ensure_ascii=False),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "EST"},  # times are in UTC wherever one is
    )
    if "no package called" in done.stderr:
        pytest.skip("R has no jsonlite on this machine: no scorecard is scored in R")
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[Any] = json.loads(done.stdout)
    return found


def question(card: Scorecard, rows: list[dict[str, Any]], what: str = "prob") -> dict[str, Any]:
    """Ask for the probabilities, scores or classes of rows."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {"card": json.loads(card.to_json()), "columns": columns, "rows": len(rows), "what": what}
