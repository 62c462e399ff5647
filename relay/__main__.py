"""The `relay` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an expected error is one line on stderr and an exit code.

    Who asked for JSON gets it then, too: stdout holds one value, whatever happens.
    """
    from relay.commands.app import app
    from relay.commands.endings import INTERRUPTED, UNFORESEEN, End, end_of
    from relay.commands.invocation import wants_json
    from relay.commands.voice import give

    in_json = wants_json(sys.argv[1:])
    try:
        # People get wrong usage drawn by the library, which then leaves by itself.
        sys.exit(app(standalone_mode=not in_json))
    except KeyboardInterrupt:
        end = End(INTERRUPTED, "interrupted")
    except Exception as error:
        # The outermost frame: what nobody expected goes on as a traceback.
        found = end_of(error)
        if found is None:
            if in_json:
                give(UNFORESEEN.json)
            raise
        end = found
    if in_json:
        give(end.json)
    said = end.line if end.code == INTERRUPTED else f"relay: {end.line}"
    sys.stderr.write(f"{said}\n")
    sys.exit(end.code)


if __name__ == "__main__":
    main()
