"""The objects of the cluster: created, changed and deleted under Kubernetes' rules."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Literal

from fakes.kube_api.clock import Clock, stamp
from fakes.kube_api.history import Change, Entry, History
from fakes.kube_api.kinds import Kind, Kinds
from fakes.kube_api.naming import random_suffix
from fakes.kube_api.refusals import Cause as Why
from fakes.kube_api.refusals import (
    Refused,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
)
from fakes.kube_api.trees import copied
from fakes.kube_api.validation import check

Object = dict[str, Any]
Place = tuple[str, str, str, str]
Propagation = Literal["Background", "Foreground", "Orphan"]
Admission = Callable[[Object, Object | None], None]
FOREGROUND = "foregroundDeletion"
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "namespace", "name", "generation")


class Store:
    """All objects, by group, plural, namespace and name."""

    def __init__(self, kinds: Kinds, clock: Clock) -> None:
        self.kinds = kinds
        self.clock = clock
        self.lock = threading.RLock()
        self.history = History(self.lock)
        self.admission: list[Admission] = []
        self.lingers: Callable[[Kind, Object], bool] = lambda _kind, _item: False
        self._objects: dict[Place, Object] = {}
        self._version = 100

    @property
    def version(self) -> int:
        return self._version

    def create(self, kind: Kind, made: Object, namespace: str = "", *, dry: bool = False) -> Object:
        """Store a new object.

        Raises:
            Refused: 409 it is there; 404 its namespace is not; 422 it is not valid.
        """
        with self.lock:
            metadata = made["metadata"]
            if metadata.get("resourceVersion"):
                raise bad_request("resourceVersion should not be set on objects to be created")
            if not metadata.get("name") and metadata.get("generateName"):
                metadata["name"] = metadata["generateName"] + random_suffix()
            self._settle_namespace(kind, metadata, namespace)
            for admit in self.admission:
                admit(made, None)
            if kind.has_status and kind.is_custom:
                made.pop("status", None)
            check(made, kind)
            place = _place(kind, namespace, metadata["name"])
            if place in self._objects:
                raise already_exists(kind.group, kind.plural, metadata["name"])
            metadata.update(
                uid=str(uuid.uuid4()), creationTimestamp=stamp(self.clock.now()), generation=1
            )
            made["apiVersion"] = kind.api_version()
            return made if dry else self._keep(kind, place, "ADDED", made, None)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Object:
        """A copy of an object. Raises: Refused: 404."""
        with self.lock:
            found = self._objects.get(_place(kind, namespace, name))
            if found is None:
                raise not_found(kind.group, kind.plural, name)
            return copied(found)

    def find(self, plural: str, name: str, namespace: str = "") -> Object | None:
        """A copy of an object, if there is one."""
        try:
            return self.get(self.kinds.of(plural), name, namespace)
        except Refused:
            return None

    def list(self, kind: Kind, namespace: str = "") -> tuple[list[Object], int]:
        """Copies of all objects of a kind, and the version at which they were so."""
        with self.lock:
            found = [
                copied(item)
                for (group, plural, where, _), item in sorted(self._objects.items())
                if (group, plural) == (kind.group, kind.plural) and namespace in ("", where)
            ]
            return found, self._version

    def replace(
        self,
        kind: Kind,
        made: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry: bool = False,
    ) -> Object:
        """Put an object in another's place; only `status` by the subresource, all else without.

        Raises:
            Refused: 404 it is not there; 409 it is not what it was; 422 it is not valid.
        """
        with self.lock:
            name = made["metadata"].get("name", "")
            old = self.get(kind, name, namespace)
            self._check_same(kind, made, old)
            made = _joined(kind, made, old, subresource)
            if subresource != "status":
                for admit in self.admission:
                    admit(made, old)
            if _wanted(made) != _wanted(old):
                made["metadata"]["generation"] = old["metadata"]["generation"] + 1
            check(made, kind, old)
            if dry or _unversioned(made) == _unversioned(old):
                return old if not dry else made
            kept = self._keep(kind, _place(kind, namespace, name), "MODIFIED", made, old)
            self._finish(kind, kept, namespace)
            return copied(kept)

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        *,
        propagation: Propagation = "Background",
        uid: str = "",
    ) -> Object:
        """Mark an object as going; it is gone once it has no finalizer.

        Returns:
            the object as it is now, or was last; `deletionTimestamp` says that it is still there.
        """
        with self.lock:
            old = self.get(kind, name, namespace)
            if uid and uid != old["metadata"]["uid"]:
                why = f"the UID in the precondition ({uid}) does not match {old['metadata']['uid']}"
                raise conflict(kind.group, kind.plural, name, why)
            made = copied(old)
            metadata = made["metadata"]
            if propagation == "Orphan":
                self._orphan(metadata["uid"])
            finalizers = metadata.get("finalizers", [])
            foreground = propagation == "Foreground" and self._dependents(metadata["uid"])
            if foreground and FOREGROUND not in finalizers:
                metadata["finalizers"] = [*finalizers, FOREGROUND]
            if not metadata.get("finalizers") and not self.lingers(kind, made):
                self._remove(kind, _place(kind, namespace, name), old)
                return old
            if "deletionTimestamp" not in metadata:
                metadata["deletionTimestamp"] = stamp(self.clock.now())
                metadata["deletionGracePeriodSeconds"] = 0
            if made != old:
                made = self._keep(kind, _place(kind, namespace, name), "MODIFIED", made, old)
            if foreground:
                self._collect(metadata["uid"], "Foreground")
            return made

    def end(self, kind: Kind, item: Object) -> None:
        """As a kubelet: a pod that was marked is gone."""
        with self.lock:
            metadata = item["metadata"]
            place = _place(kind, metadata["namespace"], metadata["name"])
            if place in self._objects:
                self._remove(kind, place, self._objects[place])

    def change(self, plural: str, item: Object, **fields: Any) -> Object:
        """As a controller: set top-level fields (`status`, `spec`) of an object as it is now."""
        with self.lock:
            kind = self.kinds.of(plural)
            metadata = item["metadata"]
            namespace = metadata.get("namespace", "")
            now = self.get(kind, metadata["name"], namespace)
            if now["metadata"]["uid"] != metadata["uid"]:
                raise not_found(kind.group, kind.plural, metadata["name"])
            for field, value in fields.items():
                made = {**copied(now), field: copied(value)}
                sub = "status" if field == "status" else ""
                now = self.replace(kind, made, namespace, subresource=sub)
            return now

    def _settle_namespace(self, kind: Kind, metadata: Object, namespace: str) -> None:
        if metadata.get("namespace", namespace) != namespace:
            raise bad_request(
                "the namespace of the provided object does not match the namespace sent on the "
                "request"
            )
        if not kind.namespaced:
            return
        metadata["namespace"] = namespace
        if self.find("namespaces", namespace) is None:
            raise not_found("", "namespaces", namespace)

    def _check_same(self, kind: Kind, made: Object, old: Object) -> None:
        name, metadata = old["metadata"]["name"], made["metadata"]
        asked = metadata.get("resourceVersion")
        if asked is not None and asked != old["metadata"]["resourceVersion"]:
            raise conflict(kind.group, kind.plural, name)
        if metadata.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            raise conflict(kind.group, kind.plural, name, "the UID does not match")
        going = "deletionTimestamp" in old["metadata"]
        added = {*metadata.get("finalizers", [])} - {*old["metadata"].get("finalizers", [])}
        if going and added:
            told = [Why("FieldValueForbidden", "no new finalizers", "metadata.finalizers")]
            raise invalid(kind.group, kind.kind, name, told)

    def _keep(
        self, kind: Kind, place: Place, change: Change, made: Object, old: Object | None
    ) -> Object:
        self._version += 1
        made["metadata"]["resourceVersion"] = str(self._version)
        self._objects[place] = copied(made)
        self.history.add(Entry(self._version, change, kind.group, kind.plural, copied(made), old))
        return made

    def _finish(self, kind: Kind, made: Object, namespace: str) -> None:
        """Let an object go that is marked, once nothing holds it any more."""
        metadata = made["metadata"]
        if "deletionTimestamp" not in metadata:
            return
        holds = {*metadata.get("finalizers", [])}
        if FOREGROUND in holds and not self._dependents(metadata["uid"]):
            holds.remove(FOREGROUND)
        if not holds:
            self._remove(kind, _place(kind, namespace, metadata["name"]), made)

    def _remove(self, kind: Kind, place: Place, old: Object) -> None:
        del self._objects[place]
        self._version += 1
        last = copied(old)
        last["metadata"]["resourceVersion"] = str(self._version)
        self.history.add(Entry(self._version, "DELETED", kind.group, kind.plural, last, old))
        self._collect(old["metadata"]["uid"], "Background")
        for owner in old["metadata"].get("ownerReferences", []):
            self._look_at_owner(owner, old["metadata"].get("namespace", ""))

    def _look_at_owner(self, owner: dict[str, Any], namespace: str) -> None:
        """An owner that waits for what it owns may be able to go now."""
        kind = self.kinds.named(owner["apiVersion"], owner["kind"])
        found = kind and self._objects.get(_place(kind, namespace, owner["name"]))
        if kind and found and found["metadata"]["uid"] == owner["uid"]:
            self._finish(kind, found, namespace)

    def _dependents(self, uid: str) -> list[tuple[Kind, Object]]:
        return list(self._owned(uid))

    def _owned(self, uid: str) -> Iterator[tuple[Kind, Object]]:
        for (group, plural, _, _), item in self._objects.items():
            owners = item["metadata"].get("ownerReferences", [])
            kind = self.kinds.find(group, plural)
            if kind is not None and any(owner["uid"] == uid for owner in owners):
                yield kind, item

    def _collect(self, uid: str, propagation: Propagation) -> None:
        """Delete what is owned by one that is gone, unless another owner lives."""
        for kind, item in self._dependents(uid):
            metadata = item["metadata"]
            place = _place(kind, metadata.get("namespace", ""), metadata["name"])
            if place not in self._objects:
                continue
            others = {owner["uid"] for owner in metadata["ownerReferences"]} - {uid}
            if not others & {it["metadata"]["uid"] for it in self._objects.values()}:
                namespace = metadata.get("namespace", "")
                self.delete(kind, metadata["name"], namespace, propagation=propagation)

    def _orphan(self, uid: str) -> None:
        for kind, item in self._dependents(uid):
            owners = [it for it in item["metadata"]["ownerReferences"] if it["uid"] != uid]
            made = copied(item)
            made["metadata"]["ownerReferences"] = owners
            self.replace(kind, made, item["metadata"].get("namespace", ""))


def _joined(kind: Kind, made: Object, old: Object, subresource: str) -> Object:
    """The new object, with those parts of the old one that this request can't change."""
    if subresource == "status":
        made = {**copied(old), "status": made.get("status", {})}
    elif kind.has_status:
        made.pop("status", None)
        made |= {"status": old["status"]} if "status" in old else {}
    made["apiVersion"] = old["apiVersion"]
    for field in _KEPT:
        made["metadata"].pop(field, None)
        if field in old["metadata"]:
            made["metadata"][field] = old["metadata"][field]
    return made


def _place(kind: Kind, namespace: str, name: str) -> Place:
    return kind.group, kind.plural, namespace if kind.namespaced else "", name


def _wanted(item: Object) -> Object:
    """What counts for `generation`: all but metadata and status."""
    return {key: value for key, value in item.items() if key not in ("metadata", "status")}


def _unversioned(item: Object) -> Object:
    metadata = {**item["metadata"], "resourceVersion": None}
    return {**item, "metadata": metadata}
