"""What AWS does and MiniStack does not, closed one module a gap.

A contract test per gap fails once a MiniStack release closes it by itself; then the module goes.
"""

from relay.local.emulator.gaps import (
    callbacks,
    deadlines,
    events,
    function_errors,
    outcomes,
    patience,
    restarts,
    retries,
    sessions,
    sizes,
    starts,
    stops,
)

# The order matters where modules wrap the same function: the later is the outer one.
_IN_ORDER = (
    stops,
    deadlines,
    starts,
    callbacks,
    outcomes,
    sizes,
    retries,
    patience,
    restarts,
    sessions,
    function_errors,
    events,
)


def close_all() -> None:
    """Close every gap, once, before the first request is served."""
    for gap in _IN_ORDER:
        gap.close()
