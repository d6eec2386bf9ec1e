"""The verb that writes a model for other programs: as a scorecard, script, ONNX, SQL, or noisy."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from naively import saving
from naively.messages import tell
from naively.options import FileOptions
from naively.wings.cli import shared
from naively.wings.cli.ask import calibrated, subject_of
from naively.wings.cli.learn import locked
from naively.wings.cli.options import Verb, model_argument, option_below
from naively.wings.cli.predictions import decision_of

if TYPE_CHECKING:
    from naively.file.store import Content
    from naively.inspect.scorecard import Scorecard


class Form(StrEnum):
    """What a model can be written as."""

    json = "json"
    js = "js"
    onnx = "onnx"
    sql = "sql"
    card = "card"


IN_SQL, IN_NOISE = "A query (--format sql)", "Noise (--noise)"  # headings of the help
query_option, noise_option = option_below(IN_SQL), option_below(IN_NOISE)


@click.command(cls=Verb)
@click.pass_context
@model_argument
@click.option("--output", "-o", help="The file to write, instead of standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(Form),
    help="json is a scorecard; js a script that scores rows by it, in a browser or in "
    "Node.js; onnx is for onnxruntime; sql is a query that scores the rows of a table; "
    "card is a model card, in Markdown. By default the file's name decides.",
)
@query_option("--table", help="The table that holds the rows; in DuckDB also the path of a file.")
@query_option(
    "--dialect", default="duckdb", help="duckdb, sqlite, postgres, or another that sqlglot knows."
)
@query_option("--schema", help="The schema that the table is in.")
@query_option("--probabilities", "-p", is_flag=True, help="Return the probability of every class.")
@query_option(
    "--keep",
    help="The columns to return beside the prediction, a,b,c; by default all.",
)
@query_option(
    "--weights",
    type=click.Choice(["auto", "inline", "table"]),
    default="auto",
    help="Whether the query holds the numbers of strings, or a table does.",
)
@query_option("--weights-table", default="naively_weights", help="The name of that table.")
@query_option("--tokens", help="The table of tokens, which texts need.")
@query_option("--row-id", help="The column that the table of tokens refers to.")
@query_option(
    "--coverage",
    type=float,
    help="Return whether each class is in the row's set; this share of sets holds the right "
    "class: 0.9.",
)
@query_option("--cost", help="As for `predict`: return the answer of least expected cost.")
@noise_option(
    "--noise",
    type=float,
    metavar="EPSILON",
    help="Write a model file with noise in its counts, which hides each single row. A smaller "
    "number adds more noise; 1 is usual. The file holds neither rows nor weights.",
)
@noise_option(
    "--delta",
    default=0.0,
    help="The largest probability that a row is not hidden, much less than one over the number "
    "of rows; needed unless all levels and words are declared.",
)
@noise_option(
    "--resolution",
    default=3,
    help="Numbers are counted in cells: 2 to this power of them between a power of two and "
    "the next.",
)
@noise_option(
    "--seed",
    type=int,
    help="Draw the same noise again, for tests: the seed lets anybody remove the noise.",
)
def export(
    context: click.Context,
    /,
    model: str,
    output: str | None,
    form: Form | None,
    noise: float | None,
    delta: float,
    resolution: int,
    seed: int | None,
    **query: Any,
) -> None:
    """Write a model for other programs that score rows, or with noise in its counts.

    A scorecard, script, ONNX or query can neither learn nor forget.
    """
    from naively.inspect.scorecard import Scorecard

    asked = None if noise is not None else _form_of(output, form)
    _check_given(context, asked, form)
    if output is not None:
        saving.check_output(output, [model])
    if noise is not None:
        if output is None:
            raise ValueError("--noise writes a model file; name it with --output.")
        _with_noise(model, output, noise, delta, resolution=resolution, random_state=seed)
        return
    if asked is Form.sql and query["table"] is None:
        raise ValueError("--format sql writes a query; say of which table, with --table.")
    found = shared.load(model)
    if asked is Form.sql:
        content = _as_sql(found, **query)
    elif asked is Form.card:
        from naively.wings.report.card import write_card

        card = write_card(subject_of(found), Path(model).stem, history=found.history)
        content = card.encode()
    else:
        content = _written(Scorecard.of(found.model), asked)
    if output is None:
        click.echo(content, nl=False)
    else:
        saving.save(output, content)
        tell(f"Wrote {output}: {len(content):,} bytes.")


def _form_of(output: str | None, form: Form | None) -> Form:
    """Return the form that is asked for, or that the name of the file tells."""
    if form is not None:
        return form
    ending = "" if output is None else Path(output).suffix.removeprefix(".")
    if output is None or ending in list(Form):
        return Form(ending or Form.json)
    raise ValueError(
        f"{output} does not tell what to write; give --format, one of {', '.join(Form)}."
    )


def _check_given(context: click.Context, asked: Form | None, form: Form | None) -> None:
    """Raise a ValueError if an option is given that has no effect on what is asked for."""
    if asked is None and form is not None:
        raise ValueError(f"--noise writes a model file, and --format {form} another; give one.")
    for parameter in context.command.params:
        heading = getattr(parameter, "heading", None)
        source = context.get_parameter_source(parameter.name or "")
        if source is None or source.name == "DEFAULT":
            continue
        if heading == IN_SQL and asked is not Form.sql:
            raise ValueError(f"{parameter.opts[0]} needs --format sql, or a file .sql.")
        if heading == IN_NOISE and asked is not None:
            raise ValueError(f"{parameter.opts[0]} is of noise in the counts; give --noise.")


def _written(card: Scorecard, form: Form | None) -> bytes:
    """Return a scorecard as JSON, a script or ONNX."""
    from naively.inspect.scorecard import in_bytes

    if form is Form.onnx:
        from naively.wings.onnx import onnx_of

        return cast("bytes", onnx_of(card).SerializeToString())
    return in_bytes(card.to_script() if form is Form.js else card.to_json() + "\n")


def _as_sql(
    found: Content, *, schema: str | None, keep: str | None, coverage: float | None, **options: Any
) -> bytes:
    """Return a script whose last statement is the query; those before it make its table."""
    from naively.assess.decisions import least_of
    from naively.inspect.scorecard import Scorecard
    from naively.wings.databases.query import QueryOptions, score_query

    learned, _, sample = found
    if schema is not None:
        tables = {name: options[name] for name in ("table", "weights_table", "tokens")}
        options |= {name: (schema, table) for name, table in tables.items() if table is not None}
    if coverage is not None:
        learned = calibrated(learned, sample, coverage)
        options["least"] = float(least_of(learned, coverage)[0])
    options["cost"] = decision_of(learned, None, options["cost"], None).cost
    asked = QueryOptions(keep=shared.names(keep), **options)
    query = score_query(Scorecard.of(learned), asked)
    return "".join(f"{statement};\n" for statement in (*query.setup, query)).encode()


def _with_noise(model: str, output: str, epsilon: float, delta: float, **options: Any) -> None:
    """Write a model file whose counts are noisy."""
    from naively.file import store

    found = shared.load(model)
    noisy = shared.estimator_of(found.model).export.with_noise(epsilon, delta, **options)
    said = str(noisy.noise_[-1])
    kept = FileOptions().over(found.provenance).kept()
    kept |= {name: found.provenance[name] for name in ("target",) if name in found.provenance}
    with locked(output):
        store.save(noisy.model_, output, {**kept, "noise": said.removeprefix("noise: ")})
    tell(said, f"wrote {output}, without weights and without any row.")
