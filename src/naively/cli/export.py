"""The verb that writes a model for other programs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naively import saving
from naively.cli.source import ModelArgument
from naively.messages import tell

if TYPE_CHECKING:
    from naively.model.scorecard.scorecard import Scorecard


class Form(StrEnum):
    """What a model can be written as."""

    JSON = "json"
    JS = "js"
    ONNX = "onnx"


def export(
    model: ModelArgument,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, instead of standard output.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="json is a scorecard; js a script that scores rows by it, in a browser or in "
            "Node.js; onnx is for onnxruntime. By default it is told by the file's name.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a model for other programs, which score rows as it does.

    Nothing can be learned with what is written, nor forgotten.
    """
    from naively.model.file import store
    from naively.model.scorecard.scorecard import Scorecard

    written = WRITTEN[_form_of(output, form)]
    if output is not None:
        saving.check_output(output, [model])
    content = written(Scorecard.of(store.load(model)))
    if output is None:
        typer.echo(content, nl=False)
    else:
        saving.save(output, content)
        tell(f"Wrote {output}: {len(content):,} bytes.")


def _as_json(card: Scorecard) -> bytes:
    from naively.model.scorecard.scorecard import in_bytes

    return in_bytes(card.to_json() + "\n")


def _as_script(card: Scorecard) -> bytes:
    from naively.model.scorecard.scorecard import in_bytes

    return in_bytes(card.to_script())


def _as_onnx(card: Scorecard) -> bytes:
    from naively.engines.onnx.model import onnx_of

    content: bytes = onnx_of(card).SerializeToString()
    return content


WRITTEN: dict[Form, Callable[[Scorecard], bytes]] = {
    Form.JSON: _as_json,
    Form.JS: _as_script,
    Form.ONNX: _as_onnx,
}


def _form_of(output: str | None, form: Form | None) -> Form:
    """Return the form that is asked for, or that the name of the file tells."""
    if form is not None:
        return form
    ending = "" if output is None else Path(output).suffix.removeprefix(".")
    if output is None or ending in list(Form):
        return Form(ending or Form.JSON)
    raise ValueError(
        f"{output} does not tell what to write; give --format, one of {', '.join(Form)}."
    )
