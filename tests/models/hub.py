"""A hub of a few endpoints on this machine, for huggingface_hub's real client."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Answers to a client without a token, as the hub gives them: status and error code.
REFUSED = {
    "meta/gated": (401, "GatedRepo"),
    "no/where": (404, "RepoNotFound"),
    "sick/hub": (500, ""),
}


class _Handler(BaseHTTPRequestHandler):
    folder: Path
    asked: list[str]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path).strip("/")
        self.asked.append(path)
        for name, (status, code) in REFUSED.items():
            if name in path:
                return self._answer(status, b"{}", {"X-Error-Code": code} if code else {})
        if path.startswith("api/models/"):
            return self._api(path)
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        file = self.folder / name
        if not name or not file.is_file():
            return self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        data = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
        return self._answer(200, data, headers)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _api(self, path: str) -> None:
        files = [p for p in sorted(self.folder.rglob("*")) if p.is_file()]
        names = [p.relative_to(self.folder).as_posix() for p in files]
        if "/tree/" in path:
            body: object = [
                {
                    "type": "file",
                    "path": name,
                    "size": file.stat().st_size,
                    "oid": hashlib.sha1(file.read_bytes()).hexdigest(),
                }
                for name, file in zip(names, files, strict=True)
            ]
        elif path.endswith(("/revision/main", f"/revision/{COMMIT}")) or "/revision/" not in path:
            repo = "/".join(path.split("/")[2:4])
            siblings = [{"rfilename": name} for name in names]
            body = {"id": repo, "modelId": repo, "sha": COMMIT, "siblings": siblings, "tags": []}
        else:
            return self._answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        return self._answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def use(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the hub's client to `url`, with a cache of its own."""
    constants = huggingface_hub.constants
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", url)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.partition("/{repo_id}")
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "".join(template[1:]))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve every model name from `folder`; yields the address and the list of asked paths."""
    asked: list[str] = []
    handler = type("Handler", (_Handler,), {"folder": folder, "asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()
