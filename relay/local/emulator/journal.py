"""A journal of table items, so that a write to a large table costs what the item costs.

Saving a table means writing all of it. Between two savings each write of an item is appended
here as the item's new image; images replace one another, so playing the journal back over any
older saving gives the newest state.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ministack.core import persistence
from ministack.services import dynamodb

Image = dict[str, Any]


class Journal:
    """The images written since the tables were last saved."""

    def __init__(self) -> None:
        """Nothing has been written yet."""
        self._path = Path(persistence.STATE_DIR) / "dynamodb.journal"
        self._sealed = self._path.with_suffix(".sealed")
        self._unwritten: list[Image] = []

    def watch(self) -> None:
        """Note every write of an item, and play the journal back once the tables are loaded."""
        put, remove = dynamodb._set_item, dynamodb._remove_item
        dynamodb._set_item = self._noting(put)
        dynamodb._remove_item = self._noting(remove)
        load = dynamodb.load_persisted_state

        def load_and_play(data: object) -> None:
            load(data)
            self._play(put, remove)

        dynamodb.load_persisted_state = load_and_play

    def flush(self) -> None:
        """Append what is not yet on disk; the writes of one request make one line or none."""
        images, self._unwritten = self._unwritten, []
        if images:
            with self._path.open("a") as file:
                file.write(json.dumps(images, default=persistence._json_default) + "\n")

    def seal(self) -> None:
        """Set aside what has been noted so far: a saving of the tables that has it has begun."""
        self.flush()
        if self._path.exists():
            with self._sealed.open("a") as file:
                file.write(self._path.read_text())
            self._path.unlink()

    def drop_sealed(self) -> None:
        """Forget what was set aside: that saving is on disk."""
        self._sealed.unlink(missing_ok=True)

    def _noting(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def write_and_note(table: Image, hash_key: str, sort_key: str, *item: Image) -> Any:  # noqa: ANN401
            answer = write(table, hash_key, sort_key, *item)
            self._unwritten.append(
                {"table": table.get("TableArn"), "key": [hash_key, sort_key], "item": [*item]}
            )
            return answer

        return write_and_note

    def _play(self, put: Callable[..., Any], remove: Callable[..., Any]) -> None:
        tables = {table.get("TableArn"): table for table in dynamodb._tables.all_values()}
        for image in self._noted():
            if table := tables.get(image["table"]):
                write = put if image["item"] else remove
                write(table, *image["key"], *image["item"])

    def _noted(self) -> Iterator[Image]:
        for path in (self._sealed, self._path):
            if path.exists():
                for line in path.read_text().splitlines():
                    yield from _images(line)


def _images(line: str) -> list[Image]:
    """The images of one line; none of the last one, if its writer was killed in the middle."""
    try:
        images: list[Image] = json.loads(line, object_hook=persistence._json_object_hook)
    except json.JSONDecodeError:
        return []
    return images
