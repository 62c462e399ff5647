"""A long JSON text seen through a window: values are decoded one by one in bounded memory."""

from __future__ import annotations

import codecs
from typing import BinaryIO

from trajectories.json_lines import LINE_BYTES_MAX
from trajectories.strict_json import Decoded, JsonFault, Place, StrictDecoder, skip_white

VALUE_CHARS_MAX = LINE_BYTES_MAX
"""Longest value, in characters."""
_READ = 256 * 1024


class Window:
    """The part of a text that is being decoded; what is behind it is forgotten."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._json = StrictDecoder()
        self._text = ""
        self._at = 0
        self._place = Place()
        self._bytes = 0
        self._ended = False
        self._fault: JsonFault | None = None

    def mark(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self._at = skip_white(self._text, self._at)
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def step(self) -> None:
        """Go over the mark."""
        self._at += 1

    def value(self) -> tuple[Decoded, int]:
        """Decode the value that begins here and go over it; how many characters it has, too.

        Raises:
            JsonFault: there is no complete one.
        """
        self.mark()
        while True:
            try:
                found = self._json.decode(self._text, self._at, self._place)
                certain = found.end < len(self._text)
            except JsonFault as fault:
                if not fault.may_go_on or not self._more():
                    raise self._fault or fault from fault
            else:
                if certain or not self._more():
                    size = found.end - self._at
                    self._at = found.end
                    return found, size
            self._check_length()

    def _check_length(self) -> None:
        if len(self._text) - self._at > VALUE_CHARS_MAX:
            words = f"is longer than {VALUE_CHARS_MAX // 1024**2} MiB"
            raise JsonFault(self._at, words, "keep each record shorter than that")

    def _more(self) -> bool:
        """Move the window over more of the text; false at its end."""
        if self._ended:
            return False
        passed = self._text[: self._at]
        self._place = self._place.after(passed)
        # As much again as is held, so that a long value is not tried too often.
        data = self._file.read(max(_READ, len(self._text) - self._at))
        text = self._decoded(data)
        self._bytes += len(data)
        self._ended = self._ended or not data
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(text) or not self._ended

    def _decoded(self, data: bytes) -> str:
        nul = data.find(b"\x00")
        if nul >= 0:
            place = self._bytes + nul + 1
            self._stop(f"holds a NUL byte at byte {place}", "save the file as text in UTF-8")
            data = data[:nul]
        try:
            return self._utf8.decode(data, final=not data)
        except UnicodeDecodeError as error:
            place = self._bytes + error.start + 1
            self._stop(f"is not UTF-8 at byte {place} or before", "save the file in UTF-8")
            return error.object[: error.start].decode("utf-8")

    def _stop(self, problem: str, remedy: str) -> None:
        self._ended = True
        self._fault = JsonFault(0, problem, remedy)

    @property
    def fault(self) -> JsonFault | None:
        """Why the text ended before the file did."""
        return self._fault
