"""Run the embedded AWS: `python -m relay.local.emulator --root FOLDER --port PORT`."""

import argparse
import os
from pathlib import Path

from relay.local.certificate import ensure_certificate
from relay.local.emulator.environment import server_environment
from relay.local.places import LocalPlaces


def main() -> None:
    """Serve until SIGTERM or SIGINT; state is saved in the folder all the while."""
    parser = argparse.ArgumentParser(prog="relay.local.emulator", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the state folder")
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    places = LocalPlaces(arguments.root.resolve())
    places.make()
    ensure_certificate(places)
    environment = server_environment(places, arguments.port)
    # MiniStack reads its settings while it is imported, and hands its whole environment to
    # every function: so the environment is replaced first, and the import comes after.
    os.environ.clear()
    os.environ.update(environment)

    from relay.local.emulator.server import serve

    serve(places, arguments.port)


if __name__ == "__main__":
    main()
