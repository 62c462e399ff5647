"""HTTPS on loopback, in threads; it can refuse connections and come back on the same port."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from fakes.kube_api.api import Api
from fakes.kube_api.calls import Answer, Call
from fakes.kube_api.outages import Outages

_TIMEOUT_S = 60


class Heard(NamedTuple):
    """One request and what it was answered, for tests that count."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    code: int
    token: str


class Server:
    """Serves an API until it is closed."""

    def __init__(self, api: Api, context: ssl.SSLContext) -> None:
        self.api = api
        self.outages = Outages()
        self.heard: list[Heard] = []
        self._context = context
        self._http: _Http | None = None
        self._port = 0
        api.open_ = self.is_up

    @property
    def endpoint(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def is_up(self) -> bool:
        return self._http is not None

    def up(self) -> None:
        """Listen, on the same port as before if there was one."""
        if self._http is None:
            self._http = _Http(("127.0.0.1", self._port), self, self._context)
            self._port = self._http.server_address[1]
            threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def down(self) -> None:
        """Refuse connections, and cut those that there are."""
        http, self._http = self._http, None
        if http is not None:
            http.shutdown()
            http.server_close()
            http.cut()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], served: Server, context: ssl.SSLContext) -> None:
        self.served = served
        self._context = context
        self._sockets: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        plain, address = super().get_request()
        plain.settimeout(_TIMEOUT_S)
        # The handshake is left to the connection's own thread, or one client could block all.
        wrapped = self._context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        self._sockets.add(wrapped)
        return wrapped, address

    def shutdown_request(self, request: Any) -> None:
        self._sockets.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, or does not trust us, is its own affair."""

    def cut(self) -> None:
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body go out apart; without this the second waits for an answer to the first.
    disable_nagle_algorithm = True
    server_version = "fake-kube-apiserver"
    server: _Http
    _METHODS: ClassVar = ("GET", "POST", "PUT", "PATCH", "DELETE")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_") and name[3:] in self._METHODS:
            return self._serve
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are kept in `heard`."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        call = Call(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length),
        )
        served = self.server.served
        answer = served.outages.meet(call) or served.api.answer(call)
        served.heard.append(
            Heard(
                time.time(),
                call.method,
                call.path,
                call.query,
                answer.code,
                call.headers.get("authorization", ""),
            )
        )
        with suppress(OSError):
            self._write(answer)

    def _write(self, answer: Answer) -> None:
        self.send_response(answer.code)
        headers = {"Content-Type": "application/json", **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        if isinstance(answer.body, Iterator):
            self._stream(answer.body)
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[dict[str, Any]]) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for event in events:
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
