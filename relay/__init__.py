"""The operator's tool: the `relay` command, the local stack and its agent."""
