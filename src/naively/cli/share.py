"""The verb that writes a model which may leave: share."""

from __future__ import annotations

from typing import Annotated

import typer

from naively import saving
from naively.cli.source import ModelArgument
from naively.cli.update import locked
from naively.messages import tell


def share(
    model: ModelArgument,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The model file to write.", show_default=False)
    ],
    epsilon: Annotated[
        float,
        typer.Option(
            help="How well a row is hidden: the less, the more noise. 1 is usual.",
            show_default=False,
        ),
    ],
    delta: Annotated[
        float,
        typer.Option(
            help="How probable it may be that a row is not hidden, much less than one over the "
            "number of rows; needed unless all levels and words are declared."
        ),
    ] = 0.0,
    resolution: Annotated[
        int,
        typer.Option(
            help="Numbers are counted in so many powers of two of cells, from each power of two "
            "to the next."
        ),
    ] = 3,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Draw the same noise again, for tests: who knows the seed can take it away.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a model with noise in its counts, so that they hardly tell of any one row.

    The file holds neither a sample of rows nor weights. MODEL stays as it is.
    """
    from naively.cli.learned import Learned
    from naively.estimators.options import learner_of
    from naively.model.file import store

    saving.check_output(output, [model])
    found = store.load_all(model)
    provenance = found.provenance
    noisy = learner_of(Learned, found.model).with_noise(
        epsilon, delta, resolution=resolution, random_state=seed
    )
    said = str(noisy.noise_[-1])
    target = {"target": provenance["target"]} if "target" in provenance else {}
    with locked(output):
        store.save(noisy.model_, output, {**target, "noise": said.removeprefix("noise: ")})
    tell(said, f"wrote {output}, without weights and without any row.")
