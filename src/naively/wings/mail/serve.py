"""A daemon that filters mail for clients of spamd: mail servers, milters and ``spamc``.

One thread reads and answers; few others score messages, and one learns. A client whose connection
was accepted is answered, or its connection ends without an answer, and it passes its message on as
it was. Connections beyond ``clients`` wait to be accepted, so memory has a bound. Messages to learn
that wait are learned by one write of the model, and answered after it.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import stat
import sys
import threading
import time
import traceback
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from naively.messages import visible
from naively.wings.mail import spamd
from naively.wings.mail.headers import mark
from naively.wings.mail.learn import tell
from naively.wings.mail.message import read_message
from naively.wings.mail.score import WordWeights, judge
from naively.wings.mail.spamd import RefusedError, Request
from naively.wings.mail.table import MailTable
from naively.wings.mail.verdict import (
    CLASS,
    EQUAL,
    NOBODY,
    TEXTS,
    division_of,
    headers_of,
    reasons,
    score_and_threshold,
    spam_headers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from naively.wings.mail.verdict import Costs, Division, Lists, Named


# --- Sockets that a daemon listens on: in the file system, on a port, or those of systemd ---------


BACKLOG = 1024  # connections that wait to be accepted
LONGEST = 107  # bytes of the name of a socket
FIRST_INHERITED = 3  # the file descriptor of the first socket that systemd passes


@contextmanager
def listening(path: str | None, host: str, port: int | None) -> Iterator[list[socket.socket]]:
    """Listen until the context is left; the socket that was made is then removed."""
    sockets = _inherited() if path is None and port is None else []
    if path is not None:
        sockets.append(_on_path(path))
    if port is not None:
        sockets += _on_port(host, port)
    if not sockets:
        raise ValueError("Say where to listen: --socket PATH or --port N.")
    for each in sockets:
        each.setblocking(False)  # noqa: FBT003
    made = os.stat(path) if path is not None else None  # noqa: PTH116
    try:
        yield sockets
    finally:
        for each in sockets:
            each.close()
        with suppress(OSError):
            if path is not None and made is not None and os.path.samestat(made, os.stat(path)):  # noqa: PTH116
                os.unlink(path)  # noqa: PTH108


def shown(listening: socket.socket) -> str:
    """Return where a socket listens, in words."""
    name = listening.getsockname()
    return f"{name[0]} port {name[1]}" if isinstance(name, tuple) else str(name)


def _on_path(path: str) -> socket.socket:
    """Listen on a socket in the file system; one that nobody listens on is replaced."""
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"The name of the socket {path} is too long.")
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise ValueError(f"{path} is there, and is no socket: name another.")
        with socket.socket(socket.AF_UNIX) as other:
            try:
                other.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)  # noqa: PTH108
            else:
                raise ValueError(f"Another process listens on {path}.")
    made = socket.socket(socket.AF_UNIX)
    try:
        made.bind(path)
    except OSError as error:
        raise OSError(f"Cannot listen on {path}: {error.strerror}.") from error
    made.listen(BACKLOG)
    return made


def _on_port(host: str, port: int) -> list[socket.socket]:
    """Listen on all addresses of a host that this machine has."""
    made: list[socket.socket] = []
    failed = None
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            made.append(socket.create_server(address[:2], family=family, backlog=BACKLOG))
        except OSError as error:
            failed = OSError(f"Cannot listen on {address[0]}, port {port}: {error.strerror}.")
    if failed is not None and not made:
        raise failed
    return made


def _inherited() -> list[socket.socket]:
    """Return the sockets that systemd listens on for this process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = int(os.environ.get("LISTEN_FDS", "0"))
    return [socket.socket(fileno=FIRST_INHERITED + i) for i in range(count)]


PATIENCE = 30.0  # seconds in which a request must have come, and an answer be taken
LINGER = 2.0  # seconds in which a client that was answered must end its connection
TOGETHER = 500  # messages that are learned by one write at most
MODELS = 32  # of users, that are held in memory
SWITCH = 0.001  # seconds after which a thread that scores lets others run
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,127}")
SUFFIX = ".naively"  # of the models in a folder


class Log:
    """One line an event, on standard error or in a file, which may be moved away and reopened."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._file: int | None = None
        self.reopen()

    def reopen(self) -> None:
        """Open the file again, as it may have been moved away."""
        if self._path is None:
            return
        opened = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
        if self._file is not None:
            os.close(self._file)
        self._file = opened

    def __call__(self, what: str) -> None:
        """Write a line; what cannot be written stops no mail."""
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {visible(what)}\n"
        with suppress(OSError, ValueError, AttributeError):
            if self._file is not None:
                os.write(self._file, line.encode("utf-8", "backslashreplace"))
            else:
                sys.stderr.write(line)
                sys.stderr.flush()


@dataclass(frozen=True)
class _Held:
    """A model in memory: the status of its file, the weights of words, and when mail is spam."""

    about: tuple[int, int, int]
    weights: WordWeights
    division: Division


@dataclass(frozen=True)
class Models:
    """The models of users, each read again when its file was changed."""

    # A file is read into memory, not mapped, as somebody may overwrite it.
    path: Path  # a model file for all users, or a folder, in which ann.naively is the model of ann
    costs: Costs = EQUAL
    at_most: float | None = None  # the share of good mail that may be taken for spam, if not costs
    lists: Lists = NOBODY
    _held: OrderedDict[Path, _Held] = field(default_factory=OrderedDict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def path_of(self, user: str | None) -> Path:
        """Return the file of a user's model."""
        if not self.path.is_dir():
            return self.path
        if user is None:
            raise RefusedError("EX_NOUSER", "Each user has a model here, and none is named.")
        if not USER.fullmatch(user):
            raise RefusedError("EX_NOUSER", f"No user can have the name {user[:80]!r}.")
        return self.path / f"{user}{SUFFIX}"

    def of(self, user: str | None) -> _Held:
        """Return what the words of a user's mail weigh, and when it is spam."""
        path = self.path_of(user)
        with self._lock:
            about = _status(path)
            if about is None:
                self._held.pop(path, None)
                raise RefusedError("EX_NOUSER", f"There is no model {path}.")
            held = self._held.get(path)
            if held is None or held.about != about:
                try:
                    table = MailTable.from_bytes(path.read_bytes())
                except ValueError as error:
                    raise ValueError(f"{path} cannot be used: {error}.") from error
                division = division_of(table, self.costs, None, self.at_most, self.lists)
                self._held[path] = held = _Held(about, WordWeights(table), division)
            self._held.move_to_end(path)
            if len(self._held) > MODELS:
                self._held.popitem(last=False)
            return held


def _status(path: Path) -> tuple[int, int, int] | None:
    """Return what is another if a file was changed, or None if there is no such file."""
    try:
        about = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode):
        raise ValueError(f"{path} is no file.")
    return about.st_ino, about.st_mtime_ns, about.st_size


@dataclass(frozen=True)
class Service:
    """How messages are scored and learned."""

    models: Models
    contacts: frozenset[str] | None = None  # addresses in lower case
    allow_tell: bool = False  # whether clients may let messages be learned and forgotten
    workers: int = 2  # how many messages are scored at a time
    clients: int = 32  # how many connections are read and answered at a time; others wait
    named: Named = (CLASS, TEXTS)


def respond(settings: Service, request: Request, message: bytes) -> tuple[bytes, str]:
    """Score a message, and return the answer and what is logged about it."""
    notes: dict[str, None] = {}
    model = settings.models.of(request.user)
    verdict, row = judge(message, model.weights, settings.contacts, notes)
    label, threshold = model.division(verdict.probability, row), model.division.threshold
    spam = label == "spam"
    texts = score_and_threshold(verdict.log_odds, threshold, is_spam=spam)
    content = b""
    if request.verb in ("PROCESS", "HEADERS"):
        headers = headers_of(label, verdict, notes, settings.named)
        content = mark(message, headers | spam_headers(label, verdict, threshold))
        if request.verb == "HEADERS":
            content = spamd.head_of(content, message)
    elif request.verb == "SYMBOLS":
        content = f"NAIVELY_{label.upper()}".encode()
    elif request.verb == "REPORT" or (request.verb == "REPORT_IFSPAM" and spam):
        lines = [f"{label}, probability {verdict.probability:.6f}", *reasons(verdict), *notes]
        text = "".join(f"{visible(line)}\n" for line in lines)
        content = text.encode("ascii", "backslashreplace")
    name = " ".join(str(row["message_id"]).split())[:200] or "none"
    about = f"{label} {'/'.join(texts)} id={name}"
    return spamd.scored(request, *texts, is_spam=spam, content=content), about


@dataclass
class Told:
    """A message that a client tells, and what became of it."""

    path: Path
    message: bytes
    label: str | None  # its class; None to forget it
    done: asyncio.Future[bool] = field(default_factory=asyncio.Future)  # was it changed, once saved


class Daemon:
    """Clients are accepted, answered and logged until the daemon is told to stop."""

    def __init__(self, settings: Service, log: Callable[[str], object]) -> None:
        self._settings, self._log = settings, log
        self._scorers = ThreadPoolExecutor(settings.workers, "score")
        self._learner = ThreadPoolExecutor(1, "learn")
        self._told: asyncio.Queue[Told] = asyncio.Queue()
        self._places = asyncio.Semaphore(settings.clients)
        self._open: set[asyncio.Task[None]] = set()

    async def run(self, sockets: Sequence[socket.socket], stop: asyncio.Event) -> None:
        """Serve clients until told to stop; those that were accepted are still answered."""
        learning = asyncio.create_task(self._learn())
        accepting = [asyncio.create_task(self._accept(each)) for each in sockets]
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([stopped, *accepting], return_when=asyncio.FIRST_COMPLETED)
        for task in accepting:
            task.cancel()
        await asyncio.gather(*accepting, return_exceptions=True)
        for each in sockets:
            each.close()
        if self._open:
            await asyncio.wait(self._open)
        learning.cancel()
        self._scorers.shutdown()
        self._learner.shutdown()

    async def _accept(self, listening: socket.socket) -> None:
        """Accept clients, as many as there are places."""
        loop = asyncio.get_running_loop()
        while True:
            await self._places.acquire()
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as error:  # such as too many open files
                self._places.release()
                self._log(f"error: no client can be accepted: {error}")
                await asyncio.sleep(1)
                continue
            except asyncio.CancelledError:
                self._places.release()
                raise
            task = asyncio.create_task(self._client(connection))
            self._open.add(task)
            task.add_done_callback(self._leave)

    def _leave(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        self._places.release()

    async def _client(self, connection: socket.socket) -> None:
        """Answer one client, whatever goes wrong, and log what was done."""
        begin = time.monotonic()
        said: list[str] = []
        reader, writer = await asyncio.open_connection(sock=connection, limit=spamd.HEAD)
        try:
            writer.write(await self._answer(reader, said))
            async with asyncio.timeout(PATIENCE):
                await writer.drain()
            writer.write_eof()
            # What was not read, as it was refused, would make the system drop the answer.
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while await reader.read(spamd.HEAD):
                        pass
        except (ConnectionError, TimeoutError) as error:
            said.append(f"error: the client is gone: {error or type(error).__name__}")
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        if said:
            self._log(f"{' '.join(said)} {time.monotonic() - begin:.3f}s")

    async def _answer(self, reader: asyncio.StreamReader, said: list[str]) -> bytes:
        """Read a request, and return its answer; what is logged about it is added to ``said``."""
        try:
            return await self._asked(reader, said)
        except RefusedError as refused:
            code, why = refused.code, str(refused)
        except ConnectionError:
            raise
        except MemoryError:
            code, why = "EX_TEMPFAIL", "There is not enough memory for this."
        except (ValueError, OSError) as error:  # of the model
            code, why = "EX_UNAVAILABLE", str(error)
        except Exception as error:  # noqa: BLE001  a mistake of ours costs one answer
            code, why = "EX_SOFTWARE", f"{type(error).__name__}: {error}"
            self._log(" | ".join(traceback.format_exc().splitlines()))
        said.append(f"error: {code} {why}")
        return spamd.refusal(code, why)

    async def _asked(self, reader: asyncio.StreamReader, said: list[str]) -> bytes:
        try:
            async with asyncio.timeout(PATIENCE):
                request = await _request(reader)
                if request is None:
                    return b""
                said += [request.verb, f"user={request.user or 'none'}"]
                if request.verb in spamd.WITHOUT_MESSAGE:
                    return spamd.PONG if request.verb == "PING" else b""
                message = await _message(reader, request)
        except TimeoutError:
            raise RefusedError("EX_TIMEOUT", f"No request in {PATIENCE:.0f} s.") from None
        said.append(f"size={len(message)}")
        if request.verb == "TELL":
            done = await self._tell(request, message)
            said.append(f"{request.wish or 'nothing'} {'done' if done else 'not done'}")
            return spamd.told(request, done=done)
        answer, about = await asyncio.get_running_loop().run_in_executor(
            self._scorers, respond, self._settings, request, message
        )
        said.append(about)
        return answer

    async def _tell(self, request: Request, message: bytes) -> bool:
        """Learn or forget a message, and return whether that changed the model, which is saved."""
        if not self._settings.allow_tell:
            raise RefusedError("EX_UNAVAILABLE", "Learning is not allowed; see --allow-tell.")
        if request.wish is None:
            return False
        label = None if request.wish == spamd.FORGET else request.wish
        told = Told(self._settings.models.path_of(request.user), message, label)
        await self._told.put(told)
        return await told.done

    async def _learn(self) -> None:
        """Learn what clients tell: all that wait for one model by one write."""
        loop = asyncio.get_running_loop()
        while True:
            waiting = [await self._told.get()]
            while len(waiting) < TOGETHER and not self._told.empty():
                waiting.append(self._told.get_nowait())
            for path in dict.fromkeys(told.path for told in waiting):
                batch = [told for told in waiting if told.path == path]
                results = await loop.run_in_executor(
                    self._learner, learn_together, path, batch, self._settings.contacts
                )
                for told, result in zip(batch, results, strict=True):
                    if isinstance(result, bool):
                        told.done.set_result(result)
                    else:
                        told.done.set_exception(result)


def learn_together(
    path: Path, batch: Sequence[Told], contacts: frozenset[str] | None
) -> list[bool | Exception]:
    """Learn messages by one write; if that cannot be, one by one, so that none stops the others."""
    try:
        wishes = [(read_message(told.message, contacts), told.label) for told in batch]
        return list(tell(str(path), wishes))
    except ValueError as error:
        if len(batch) == 1:
            return [error]
        return [learn_together(path, [told], contacts)[0] for told in batch]
    except Exception as error:  # noqa: BLE001  each client is told
        return [error] * len(batch)


async def _request(reader: asyncio.StreamReader) -> Request | None:
    """Read the line and the headers of a request; None if the client leaves without one."""
    lines: list[bytes] = []
    size = 0
    try:
        while line := await reader.readline():
            size += len(line)
            if not line.strip():
                break
            lines.append(line)
            if size > spamd.HEAD or len(lines) > spamd.HEADERS:
                raise RefusedError("EX_PROTOCOL", "The headers are too long.")
            # Version 1.0 has no headers, and before 1.5 PING and SKIP have no empty line.
            if len(lines) == 1:
                first = spamd.read_request(line.rstrip())
                if first.version <= (1, 0) or first.verb in spamd.WITHOUT_MESSAGE:
                    break
    except ValueError:
        raise RefusedError("EX_PROTOCOL", "A header is too long.") from None
    return spamd.read_request(b"".join(lines).rstrip()) if lines else None


async def _message(reader: asyncio.StreamReader, request: Request) -> bytes:
    """Read the message of a request."""
    if request.length is not None:
        spamd.check_length(request.length)
        try:
            body = await reader.readexactly(request.length)
        except asyncio.IncompleteReadError as error:
            body = error.partial
    else:
        parts: list[bytes] = []
        while part := await reader.read(1 << 16):
            parts.append(part)
            spamd.check_length(sum(map(len, parts)))
        body = b"".join(parts)
    return spamd.read_message(request, body)


# --- Signals, and the end ------------------------------------------------------------------------


def serve(
    settings: Service,
    log: Log,
    *,
    path: str | None = None,
    host: str = "localhost",
    port: int | None = None,
) -> None:
    """Serve clients until SIGTERM or SIGINT."""
    sys.setswitchinterval(SWITCH)
    with listening(path, host, port) as sockets:
        asyncio.run(_until_told(settings, log, sockets))


async def _until_told(settings: Service, log: Log, sockets: list[socket.socket]) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, log.reopen)
    for each in sockets:
        log(f"listening on {shown(each)}")
    await Daemon(settings, log).run(sockets, stop)
    log("stopped")
