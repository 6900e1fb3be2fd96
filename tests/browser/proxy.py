"""A proxy that shows a server under a path prefix, as nginx does with the lines in hosting.md."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# Those of one connection, not of what goes through it.
OWN = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class _PassingOn(BaseHTTPRequestHandler):
    home: str
    prefix: str

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # a browser asks for it by itself
            self.send_response_only(204)
            return self.end_headers()
        if not self.path.startswith(self.prefix + "/"):
            return self.send_error(404, "nothing is here but under the prefix")
        host = self.headers["host"]
        given = {k: v for k, v in self.headers.items() if k.lower() not in OWN}
        told = {
            "Host": host,
            "X-Forwarded-Host": host,
            "X-Forwarded-Proto": "http",
            "X-Forwarded-For": self.client_address[0],
        }
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        home = HTTPConnection(urlsplit(self.home).netloc)
        try:
            path = self.path.removeprefix(self.prefix)
            home.request(self.command, path, body or None, given | told)
            answer = home.getresponse()
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in OWN:
                    self.send_header(name, value)
            self.end_headers()
            # As it comes: what a buffer held back would arrive at the end of a run.
            while piece := answer.read1():
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:
            pass  # who asked has gone: the server is told by the connection that closes
        finally:
            home.close()

    do_POST = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def proxied(home: str, prefix: str) -> Iterator[str]:
    """Serve `home` under `prefix`; yields the address."""
    handler = type("PassingOn", (_PassingOn,), {"home": home, "prefix": prefix})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{prefix}/"
        server.shutdown()
