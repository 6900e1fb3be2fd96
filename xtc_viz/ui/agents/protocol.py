"""The tools over MCP, by gradio's own server: its streamable HTTP, and nothing else of it.

They are blocks of their own, so that no endpoint of the page is among them, and take no place in
gradio's queue: each is called with the very request that asks for it, which the gate has seen, so
that a visitor is the same here as on the page, and ends when that request does.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import gradio as gr
from gradio.events import api
from gradio.mcp import GradioMCPServer
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.ui.agents.tools import tools
from xtc_viz.ui.files import check_no_files
from xtc_viz.ui.gate.routes import AGENTS
from xtc_viz.ui.service import Service

MISSING = (
    '--mcp needs a package that is not installed: pip install "xtc_viz[mcp]", or in a copy of the '
    'repository: pip install "mcp>=1.30,<2".'
)


def is_installed() -> bool:
    """Whether what `--mcp` needs beside gradio is there."""
    return find_spec("mcp") is not None


class Agents(GradioMCPServer):
    """The tools of one page."""

    def __init__(self, service: Service) -> None:
        """Raises `ImportError` where `mcp` is not installed."""
        with gr.Blocks(title="xtc_viz", analytics_enabled=False) as blocks:
            for tool in tools(service):
                api(tool, api_name=tool.__name__, queue=False)
        super().__init__(blocks)

    @property
    def routes(self) -> list[Route]:
        """What belongs to the page's app, with the `lifespan` of this."""
        return [Route(path, _Endpoint(self), methods=["POST"]) for path in (AGENTS, f"{AGENTS}/")]

    def create_mcp_server(self) -> Any:
        """Return gradio's server with its tools alone, which says in our words what is wrong with a
        value's kind.

        Whoever asks for a resource or a prompt would have gradio call the address that the request
        was sent to, which may be any: there are none, so nothing takes such a request.
        """
        from mcp import types

        server = super().create_mcp_server()
        call = server.request_handlers[types.CallToolRequest]
        harmless = (types.PingRequest, types.ListToolsRequest)
        server.request_handlers = {kind: server.request_handlers[kind] for kind in harmless}

        async def checked(request: types.CallToolRequest) -> types.ServerResult:
            try:
                self._check(request.params.name, request.params.arguments or {})
            except XTCVizError as error:
                content = [types.TextContent(type="text", text=str(error))]
                return types.ServerResult(types.CallToolResult(content=content, isError=True))
            return await call(request)

        server.request_handlers[types.CallToolRequest] = checked
        return server

    def _check(self, name: str, arguments: dict[str, Any]) -> None:
        """Raise `XTCVizError` for another tool, other names, values of another kind, or a file."""
        if name not in self.tool_to_endpoint:
            raise SettingsError("name", f"one of {', '.join(self.tool_to_endpoint)}", name)
        check_no_files(arguments)
        schema, _ = self.get_input_schema(name)
        for field, bounds, value in wrong(schema, arguments):
            raise SettingsError(field, bounds, value)


def wrong(schema: dict[str, Any], arguments: dict[str, Any]) -> Iterator[tuple[str, str, object]]:
    """Yield what does not fit a schema: the field, its bounds and the value."""
    from jsonschema import Draft202012Validator

    for field in arguments.keys() - schema["properties"].keys():
        yield "arguments", f"among {', '.join(schema['properties'])}", field
    for field in schema.get("required", ()):
        if field not in arguments:
            yield field, "there", None
    for error in Draft202012Validator(schema).iter_errors(arguments):
        if error.absolute_path:
            kind = error.schema.get("type", "of another kind")
            yield str(error.absolute_path[0]), KINDS.get(kind, kind), error.instance


KINDS = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}


class _Endpoint:
    """gradio's handler as starlette takes it: a function would be given a request."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._agents.handle_streamable_http(scope, receive, send)
