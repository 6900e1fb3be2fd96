"""A server of a test's own making that answers real connections with whatever it is told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str, Any], Any]
"""A path and the values that came with it (None for a GET) to JSON, or to a `Raw` answer."""


class Raw:
    """An answer as bytes, with its head."""

    def __init__(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.body = body
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Serve on a free port of this machine and yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(answer(self.path, None))

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self._send(answer(self.path, json.loads(self.rfile.read(length))))

        def _send(self, said: Any) -> None:
            raw = said if isinstance(said, Raw) else Raw(json.dumps(said).encode())
            self.send_response(raw.status)
            for name, value in {"Content-Length": str(len(raw.body)), **raw.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw.body)

        def log_message(self, *arguments: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def sending(*pieces: bytes, pause: float = 0.0) -> Iterator[str]:
    """Serve one connection after another with these bytes, whatever is asked, then close it."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(5.0)
                    connection.recv(65536)
                    for piece in pieces:
                        connection.sendall(piece)
                        if over.wait(pause):
                            return
                    # Closed with something unread, it would be reset and the answer be lost.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        # A thread that waits for a connection is woken by one.
        with socket.create_connection(listening.getsockname()):
            pass
        listening.close()
        thread.join()
