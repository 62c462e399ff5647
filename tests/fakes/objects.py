"""The bucket in memory; the contract test runs on it and on moto's S3 alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from contracts.errors import ContractBroken
from contracts.limits import KEY_BYTES_MAX
from contracts.model import digest
from lambdas.ports import ObjectHead

Told = Callable[[str, str, int], None]


@dataclass
class FakeObjects:
    """Fulfils `lambdas.ports.Objects`; `told` hears of every write: key, version, size."""

    bucket: str = "relay-tests"
    told: Told = lambda _key, _version, _size: None
    versions: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    _count: int = 0

    def get(self, key: str, *, limit: int) -> bytes | None:
        there = self.versions.get(key)
        if not there:
            return None
        body = there[-1][1]
        if len(body) > limit:
            raise ContractBroken(f"{key}: {len(body)} bytes, at most {limit} taken")
        return body

    def get_range(self, key: str, version_id: str, length: int) -> bytes | None:
        found = [body for version, body in self.versions.get(key, []) if version == version_id]
        return found[0][:length] if found else None

    def head(self, key: str) -> ObjectHead | None:
        there = self.versions.get(key)
        if not there:
            return None
        body = there[-1][1]
        return ObjectHead(len(body), f'"{digest(body)[:32]}"', digest(body))

    def put(self, key: str, body: bytes) -> None:
        self.add(key, body)

    def put_if_absent(self, key: str, body: bytes) -> bool:
        if self.versions.get(key):
            return False
        self.add(key, body)
        return True

    def add(self, key: str, body: bytes) -> str:
        """Write an object as anyone may; its new version."""
        assert 0 < len(key.encode()) <= KEY_BYTES_MAX
        self._count += 1
        version = f"v{self._count:06d}"
        self.versions.setdefault(key, []).append((version, body))
        self.told(key, version, len(body))
        return version
