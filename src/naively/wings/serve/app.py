"""The application: one model file behind a few routes, in the ASGI way that servers know.

The file is looked at between requests. A new one is loaded beside the old model, which answers
until then; one that cannot be read leaves the old model in place, and that is said.
"""

from __future__ import annotations

import hashlib
import json
import os
import traceback
from asyncio import BaseTransport, Lock, TimerHandle, timeout
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

from h11 import IDLE
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from naively.file import store
from naively.file.store import Content
from naively.frozen import Frozen
from naively.messages import many, say, tell
from naively.model.class_prior import MOST_PROBABLE, Decision
from naively.model.model import Model
from naively.wings.serve import EXPLAINED, MAX_AT_ONCE, MAX_BYTES, MAX_ROWS
from naively.wings.serve.answers import ModelAnswers
from naively.wings.serve.rows import Json, RequestError, Value, parse

SMALL = 1 << 14  # bytes of a request that is answered at once; a larger one must not stop others
PATIENCE = 60  # seconds for a body to arrive
HEAD = 10  # seconds for the head of a request to arrive, on a connection that is open
TOGETHER = 20  # requests of the greatest size, of which so much is held at a time
AGAIN = 1  # seconds after which a client that is refused, as there is too much to do, may come back
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
WATCHED = ("/health", "/metrics")  # answered however much there is to do
UNREADABLE = (ValueError, OSError, ImportError, MemoryError)

Page: TypeAlias = Callable[[Content], str]
Decide: TypeAlias = Callable[[Model], Decision]  # how answers follow from posteriors
Mark: TypeAlias = "tuple[int, ...] | None"  # of a file: another one, if it differs


class RequestLimits(Frozen, eq=True):
    """What is taken."""

    rows: int = MAX_ROWS  # at most, of one request
    bytes: int = MAX_BYTES
    strict: bool = False  # whether a key that is no column is refused
    at_once: int = MAX_AT_ONCE  # how many requests are being answered at a time, at most


class Metrics:
    """What was asked, counted as Prometheus reads it."""

    def __init__(self) -> None:
        self.registry = every = CollectorRegistry()
        what = "Requests that were answered, by route and status."
        self.requests = Counter("naively_requests", what, ("route", "status"), registry=every)
        self.rows = Counter("naively_rows", "Rows that were predicted.", registry=every)
        what = "Attempts to load the model file, by whether it could be read."
        self.loads = Counter("naively_loads", what, ("read",), registry=every)
        what = "How long requests took, by route."
        self.seconds = Histogram(
            "naively_seconds", what, ("route",), registry=every, buckets=SECONDS
        )


class ModelFile:
    """A model file that is loaded again whenever it is another one."""

    def __init__(self, path: Path, limits: RequestLimits, counts: Metrics, decide: Decide) -> None:
        self.path, self.limits, self.counts, self.decide = path, limits, counts, decide
        self.problem = ""  # of a newer file, which cannot be read
        self.mark = self._look()
        self.answers = self._load()
        self.loading = False

    async def current(self) -> ModelAnswers:
        """Return the model of the file as it is now, or the last one that could be read."""
        mark = self._look()
        if mark == self.mark or self.loading:
            return self.answers
        self.loading, self.mark = True, mark
        try:
            self.answers = await run_in_threadpool(self._load)
        except UNREADABLE as error:
            self.problem = str(error)
            self.counts.loads.labels("false").inc()
            say(f"The model is still the one that was loaded before: {error}", "warning")
        else:
            self.problem = ""
            say(f"Loaded {self.path} anew: {self.answers.described}.")
        finally:
            self.loading = False
        return self.answers

    def _load(self) -> ModelAnswers:
        while True:
            mark, found = self._look(), store.load_all(self.path)
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if mark is not None and mark == self._look():
                break  # it is the digest of what was loaded
        written = datetime.fromtimestamp(mark[0] // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        changed = [record.when for record in found.history.records]
        answers = ModelAnswers(
            found,
            strict=self.limits.strict,
            most=self.limits.rows,
            decision=self.decide(found.model),
            identity={"digest": digest, "time": (changed or [written])[-1]},
        )
        answers.of(answers.form.empty)  # what is derived once is derived now
        self.counts.loads.labels("true").inc()
        return answers

    def _look(self) -> Mark:
        try:
            seen = os.stat(self.path)  # noqa: PTH116  (a few µs less, in each request)
        except OSError:
            return None
        return seen.st_mtime_ns, seen.st_size, seen.st_ino, seen.st_dev


class ModelService:
    """The application, which counts and logs each request."""

    def __init__(
        self,
        path: str | Path,
        page_of: Page,  # what writes the report
        limits: RequestLimits = RequestLimits(),
        decide: Decide = lambda _: MOST_PROBABLE,
    ) -> None:
        self.metrics = Metrics()
        self.file = ModelFile(Path(path), limits, self.metrics, decide)
        self.limits, self.page_of = limits, page_of
        self.answering = 0  # requests
        self.held = 0  # bytes of the requests that are being answered
        self.explaining, self.writing = Lock(), Lock()
        self.page: tuple[ModelAnswers, str] | None = None  # about the model that answered then
        routes = [
            Route("/", self.report),
            Route("/predict", self.predict, methods=["POST"]),
            Route("/openapi.json", self.openapi),
            Route("/health", self.health),
            Route("/metrics", self.show_metrics),
        ]
        self.routes = {route.path for route in routes}
        self.app = Starlette(
            routes=routes, exception_handlers={HTTPException: _refuse, Exception: _fail}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 0
        scope.setdefault("state", {})["rows"] = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.answering += 1
        try:
            app: ASGIApp = self.app
            if self.answering > self.limits.at_once and scope["path"] not in WATCHED:
                app = _sentence(503, "There are too many requests at a time; try again.")
            await app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  a mistake of ours, which must not stop the others
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error} ({where.filename}, line {where.lineno})"
            say(f"{scope['path']} was not answered: {what}", "error")
        finally:
            self.answering -= 1
        rows, seconds = scope["state"]["rows"], perf_counter() - began
        known = scope["path"] if scope["path"] in self.routes else "other"
        self.metrics.requests.labels(known, status).inc()
        self.metrics.rows.inc(rows)
        self.metrics.seconds.labels(known).observe(seconds)
        tell(
            f"{scope['method']} {scope['path']} {status}, {many(rows, 'row')}, {seconds:.4f} s",
            method=scope["method"],
            path=scope["path"],
            status=status,
            rows=rows,
            seconds=round(seconds, 6),
        )

    async def predict(self, request: Request) -> Response:
        """Answer rows, or say what is wrong with them."""
        answers = await self.file.current()
        body = bytearray()
        try:
            top = _top(request.query_params.get("explain"))
            await self._read(request, body, int(self.limits.bytes * (EXPLAINED if top else 1)))
            is_text = request.headers.get("content-type", "").startswith("text/plain")
            ask = partial(_answer, answers, body, is_text=is_text, top=top)
            if top:
                async with self.explaining:  # one at a time, as it takes memory
                    answer, rows = await run_in_threadpool(ask)
            else:
                answer, rows = await run_in_threadpool(ask) if len(body) > SMALL else ask()
        except RequestError as error:
            return _sentence(error.status, str(error))
        except ClientDisconnect:
            return _sentence(400, "The request ended before its body was there.")
        finally:
            self.held -= len(body)
        request.state.rows = rows
        return Response(answer, media_type="application/json")

    async def _read(self, request: Request, body: bytearray, most: int) -> None:
        """Read the body, of which no more is held than may be sent, nor of all bodies together."""
        too_large = RequestError(413, f"The request is larger than {most:,} bytes.")
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RequestError(415, "The request is compressed, which is not taken.")
        told = request.headers.get("content-length", "")
        if told.isdecimal() and int(told[:20]) > most:
            raise too_large
        try:
            async with timeout(PATIENCE):
                async for part in request.stream():
                    body += part
                    self.held += len(part)
                    if len(body) > most:
                        raise too_large
                    if self.held > TOGETHER * self.limits.bytes:
                        raise RequestError(503, "There are too many large requests; try again.")
        except TimeoutError:
            raise RequestError(408, f"The body did not arrive in {PATIENCE} s.") from None

    async def report(self, request: Request) -> Response:  # noqa: ARG002
        """Return the page about the model."""
        answers = await self.file.current()
        async with self.writing:
            if self.page is None or self.page[0] is not answers:
                self.page = answers, await run_in_threadpool(self.page_of, answers.found)
        return HTMLResponse(self.page[1])

    async def openapi(self, request: Request) -> Response:  # noqa: ARG002
        """Return the description of what can be asked."""
        return _json((await self.file.current()).openapi)

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """Say which model answers, and whether there is a newer one that cannot be read."""
        answers = await self.file.current()
        told = {"status": "ok", "model": self.file.path.name, "is": answers.described}
        problem = {"problem": self.file.problem} if self.file.problem else {}
        return _json(told | answers.identity | problem)

    async def show_metrics(self, request: Request) -> Response:  # noqa: ARG002
        """Return the counts."""
        counts = generate_latest(self.metrics.registry)
        return Response(counts, media_type=CONTENT_TYPE_LATEST)


def _answer(
    answers: ModelAnswers, body: bytearray, *, is_text: bool, top: int
) -> tuple[bytes, int]:
    """Return the answer to a body, and of how many rows it is."""
    if is_text:
        try:
            given: Value = body.decode()
        except UnicodeDecodeError:
            raise RequestError(400, "The text is not UTF-8.") from None
    else:
        given = parse(body)
    found = answers.of(given, top)
    return _bytes(found), len(found["predictions"])


def _top(asked: str | None) -> int:
    """Return how many weights of evidence are asked for."""
    if asked is None:
        return 0
    if not asked.isdecimal() or len(asked) > 6:
        raise RequestError(422, f"explain is a number of items, such as 5, got {asked[:20]!r}.")
    return int(asked)


def _bytes(found: Json) -> bytes:
    return json.dumps(found, allow_nan=False).encode()


def _json(found: Json, status: int = 200) -> Response:
    return Response(_bytes(found), status, media_type="application/json")


def _sentence(status: int, sentence: str) -> Response:
    """Say why a request is not answered, and when to come back if that may help."""
    found = _json({"error": sentence}, status)
    if status == 503:
        found.headers["Retry-After"] = str(AGAIN)
    return found


async def _refuse(request: Request, error: Exception) -> Response:
    """Say that a path or a method is none."""
    assert isinstance(error, HTTPException)
    what = f"{request.method} {request.url.path}: {error.detail}."
    found = _sentence(error.status_code, what)
    found.headers.update(error.headers or {})
    return found


async def _fail(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Say that the mistake is ours; what it is, is logged."""
    return _sentence(500, "The service made a mistake, which its log says.")


# --- A connection that sends no request is closed, as there are but so many at a time -------------


class Connection(H11Protocol):
    """HTTP/1.1, where the whole head of a request comes within ten seconds."""

    waiting: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not IDLE:
            self._stop()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop()
        if self.conn.their_state is IDLE:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waiting = self.loop.call_later(HEAD, self.transport.close)

    def _stop(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
