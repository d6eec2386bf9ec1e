"""The verb that writes a model as a query, which scores rows in a database."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from naively import saving
from naively.cli.ask import open_model
from naively.cli.source import ModelArgument, names


class WhereOption(StrEnum):
    """Where the numbers of strings and tokens are."""

    auto = "auto"
    inline = "inline"
    table = "table"


def sql(
    model: ModelArgument,
    table: Annotated[
        str, typer.Option(help="The table that holds the rows; in DuckDB also the path of a file.")
    ],
    dialect: Annotated[
        str, typer.Option(help="duckdb, sqlite, postgres, or another that sqlglot knows.")
    ] = "duckdb",
    schema: Annotated[
        str | None, typer.Option(help="The schema that the table is in.", show_default=False)
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Return the probability of every class.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            help="The columns to return beside the prediction, with commas between; by default "
            "all.",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        WhereOption,
        typer.Option(help="Whether the query holds the numbers of strings, or a table does."),
    ] = WhereOption.auto,
    weights_table: Annotated[str, typer.Option(help="The name of that table.")] = "naively_weights",
    tokens: Annotated[
        str | None,
        typer.Option(help="The table of tokens, which texts need.", show_default=False),
    ] = None,
    row_id: Annotated[
        str | None,
        typer.Option(help="The column that the table of tokens refers to.", show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, instead of standard output.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a query that scores the rows of a table in its database.

    Each statement ends in a semicolon, the query last; those before it make and fill the table of
    weights, where there is one.
    """
    from naively.engines.sql.score import Asked, score_query
    from naively.model.scorecard.scorecard import Scorecard

    if output is not None:
        saving.check_output(output, [model])
    learned, _ = open_model(model)
    asked = Asked(
        table=table if schema is None else (schema, table),
        dialect=dialect,
        probabilities=probabilities,
        keep=names(keep),
        weights=weights.value,
        weights_table=weights_table if schema is None else (schema, weights_table),
        tokens=tokens if schema is None or tokens is None else (schema, tokens),
        row_id=row_id,
    )
    query = score_query(Scorecard.of(learned), asked)
    script = "".join(f"{statement};\n" for statement in (*query.setup, query))
    if output is None:
        typer.echo(script, nl=False)
    else:
        saving.save(output, script.encode())
