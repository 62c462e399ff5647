"""The `relay` command: a module a verb, each with what it needs imported when it runs."""
