"""The bucket in memory; the contract test runs on it and on moto's S3 alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from contracts.errors import ContractBroken, DropRefused
from contracts.limits import KEY_BYTES_MAX
from contracts.model import digest
from lambdas.ports import ObjectHead, StoredVersion

Told = Callable[[str, str, int], None]


@dataclass
class FakeObjects:
    """Fulfils `lambdas.ports.Objects`; `told` hears of every write: key, version, size."""

    bucket: str = "relay-tests"
    told: Told = lambda _key, _version, _size: None
    versions: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    _count: int = 0

    def get(self, key: str, *, limit: int) -> bytes | None:
        there = self._newest(key)
        if there is None:
            return None
        body = there[1]
        if len(body) > limit:
            raise ContractBroken(f"{key}: {len(body)} bytes, at most {limit} taken")
        return body

    def get_range(self, key: str, version_id: str, length: int) -> bytes | None:
        if version_id in self.unreadable:
            raise DropRefused("KMS.DisabledException: the key is disabled")
        found = [body for version, body in self.versions.get(key, []) if version == version_id]
        return found[0][:length] if found else None

    def list_versions(self, prefix: str) -> Iterator[StoredVersion]:
        for key in sorted(self.versions, key=str.encode):
            if not key.startswith(prefix):
                continue
            if key in self.deleted:
                yield StoredVersion(key, "", 0, newest=False)
            newest = self._newest(key)
            for version, body in reversed(self.versions[key]):
                yield StoredVersion(key, version, len(body), newest == (version, body))

    def head(self, key: str) -> ObjectHead | None:
        there = self._newest(key)
        if there is None:
            return None
        body = there[1]
        return ObjectHead(len(body), f'"{digest(body)[:32]}"', digest(body))

    def put(self, key: str, body: bytes) -> None:
        self.add(key, body)

    def put_if_absent(self, key: str, body: bytes) -> bool:
        if self._newest(key) is not None:
            return False
        self.add(key, body)
        return True

    def add(self, key: str, body: bytes) -> str:
        """Write an object as anyone may; its new version."""
        assert 0 < len(key.encode()) <= KEY_BYTES_MAX
        self._count += 1
        version = f"v{self._count:06d}"
        self.versions.setdefault(key, []).append((version, body))
        self.deleted.discard(key)
        self.told(key, version, len(body))
        return version

    def delete(self, key: str) -> None:
        """Put a delete marker on an object, as anyone may."""
        self.deleted.add(key)

    def delete_version(self, key: str, version_id: str) -> None:
        """Delete one version for good; nobody hears of it."""
        self.versions[key] = [it for it in self.versions[key] if it[0] != version_id]

    def _newest(self, key: str) -> tuple[str, bytes] | None:
        there = self.versions.get(key)
        return there[-1] if there and key not in self.deleted else None
