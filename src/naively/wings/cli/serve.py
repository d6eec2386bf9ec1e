"""The verb that answers over HTTP."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from naively.messages import say
from naively.wings.cli import options
from naively.wings.cli.ask import subject_of
from naively.wings.cli.options import Verb
from naively.wings.cli.predictions import decision_of
from naively.wings.serve import MAX_BYTES, MAX_ROWS

if TYPE_CHECKING:
    from naively.file.store import Content

LOOPBACK = ("127.0.0.1", "::1", "localhost")
BACKLOG = 2048
GRACE = 30  # seconds for what is being answered, after SIGTERM


@click.command(cls=Verb)
@options.model_argument
@click.option(
    "--host",
    default="127.0.0.1",
    help="The address to listen at; by default only this machine can ask.",
)
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    default=8000,
    help="The port to listen at; 0 takes a free one.",
)
@click.option(
    "--strict", is_flag=True, help="Refuse keys that are not columns, instead of ignoring them."
)
@click.option(
    "--max-rows", type=click.IntRange(min=1), default=MAX_ROWS, help="The most rows of a request."
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=MAX_BYTES,
    help="The most bytes of a request.",
)
@options.class_prior_option
@options.cost_option
@options.reject_option
def serve(
    model: str,
    host: str,
    port: int,
    strict: bool,
    max_rows: int,
    max_bytes: int,
    class_prior: str | None,
    cost: str | None,
    reject: float | None,
) -> None:
    """Answer over HTTP: rows in JSON are sent to /predict; the report is at /.

    /openapi.json describes the requests. When MODEL changes, it is loaded again. After SIGTERM the
    open requests are answered, and the server ends.
    """
    try:
        import uvicorn

        from naively.wings.serve.app import Connection, ModelService, RequestLimits
    except ImportError as error:
        raise ImportError(
            "`naively serve` needs Starlette, uvicorn, msgspec and prometheus-client; install them "
            "with: pip install 'naively[serve]'."
        ) from error
    limits = RequestLimits(max_rows, max_bytes, strict)
    service = ModelService(
        model,
        lambda found: _page(found, Path(model).stem),
        limits,
        lambda learned: decision_of(learned, class_prior, cost, reject),
    )
    listening = listen(host, port)
    config = uvicorn.Config(
        service,
        http=Connection,
        log_config=None,
        log_level="critical",  # the service logs its requests itself
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE,
    )
    name = f"[{host}]" if ":" in host else host
    say(
        f"Serving {model} ({service.file.answers.described}) at "
        f"http://{name}:{listening.getsockname()[1]}."
    )
    if host not in LOOPBACK:
        say(f"Anybody who reaches {host} can ask the model: there is no password.", "warning")
    # uvicorn raises the signal that stopped it once more, when all is answered.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)
        listening.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why none does."""
    # It says that it speaks TCP, as asyncio sends at once only where that is said. Else the body of
    # an answer would wait for 40 ms, until its head is acknowledged (Nagle).
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would let two processes listen at one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise OSError(f"Cannot listen at {host}, port {port}: {error.strerror}.") from error
    return listening


def _page(found: Content, name: str) -> str:
    from naively.wings.report.page import write_report

    return write_report(subject_of(found), name).html
