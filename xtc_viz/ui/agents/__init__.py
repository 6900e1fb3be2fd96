"""What agents are offered over MCP: a run, what-if along it, the audit of a server."""
