"""A gap as a question: what AWS answers, and hence what the closed emulator must answer."""

from collections.abc import Callable
from dataclasses import dataclass

from botocore.exceptions import ClientError
from emulated import Emulated

Observed = Callable[[str, Callable[[Emulated], object]], object]


@dataclass(frozen=True)
class Probe:
    """`ask` puts the question to an emulator; `module` is what closes the gap."""

    module: str
    ask: Callable[[Emulated], object]
    aws: object

    @property
    def name(self) -> str:
        return f"{self.module}: {self.ask.__name__.replace('_', ' ')}"


def error_code(call: Callable[..., object], **fields: object) -> str:
    """The error of a call, or "accepted"."""
    try:
        call(**fields)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "accepted"
