"""The `relay` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an expected error is one line on stderr and an exit code."""
    from relay.commands.app import app
    from relay.commands.endings import INTERRUPTED, end_of

    try:
        app()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        # The outermost frame: what nobody expected goes on as a traceback.
        end = end_of(error)
        if end is None:
            raise
        sys.stderr.write(f"relay: {end.line}\n")
        sys.exit(end.code)


if __name__ == "__main__":
    main()
