"""Calls a function's handler as Lambda's own runtime does; runs inside the function's process.

It imports nothing but the standard library, and hides what a deployed function would not see:
the checkout's packages, and the emulator's settings.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HANDLER = "RELAY_LOCAL_HANDLER"
FAILURE = "relay.local.failure"
_EMULATORS = ("MINISTACK_", "GATEWAY_PORT", "STATE_DIR", "S3_DATA_DIR", "DOCKER_HOST", "PYTHONPATH")


def call(event: object, context: object) -> Any:  # noqa: ANN401 - any JSON
    """Call the handler; a failure becomes a value, since the process is not to blame."""
    try:
        answer = _load()(event, context)
    except Exception as error:
        return _failure(type(error).__name__, error)
    try:
        json.dumps(answer)
    except (TypeError, ValueError) as error:
        return _failure("Runtime.MarshalError", error)
    return answer


def _failure(name: str, error: Exception) -> dict[str, Any]:
    name = "Runtime.ImportModuleError" if isinstance(error, ImportError) else name
    return {
        FAILURE: {
            "errorType": name,
            "errorMessage": str(error),
            "stackTrace": traceback.format_exception(error),
        }
    }


def _load() -> Callable[[object, object], Any]:
    module, _, name = os.environ[HANDLER].rpartition(".")
    handler: Callable[[object, object], Any] = getattr(
        importlib.import_module(module.replace("/", ".")), name
    )
    return handler


def _hide() -> None:
    """Leave the function its code, its layers, the interpreter and the installed packages."""
    unpacked = Path(os.environ.get("LAMBDA_TASK_ROOT", ".")).resolve().parent
    seen = (str(unpacked), sys.prefix, sys.base_prefix)
    sys.path[:] = [entry for entry in sys.path if entry.startswith(seen)]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _editable(finder)]
    for name in list(os.environ):
        if name.startswith(_EMULATORS):
            del os.environ[name]


def _editable(finder: object) -> bool:
    """Whether the finder makes a checkout importable (an editable installation)."""
    module = getattr(finder, "__module__", None) or type(finder).__module__
    return module.startswith("__editable__")


def _warm_up() -> None:
    """Import the handler while the process starts, as Lambda does; `call` reports a failure."""
    _hide()
    try:
        _load()
    except Exception:
        traceback.print_exc()


if HANDLER in os.environ:
    _warm_up()
