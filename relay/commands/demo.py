"""x."""

from relay.commands.invocation import Invocation


def demo(at: Invocation) -> None:
    """x"""
