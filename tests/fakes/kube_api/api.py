"""The API: from a call to its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fakes.kube_api import discovery
from fakes.kube_api.access import Access, Caller, Request
from fakes.kube_api.apply import Owners, leaves
from fakes.kube_api.calls import APPLY, JSON_PATCH, JSON_TYPES, MERGE, STRATEGIC, Answer, Call
from fakes.kube_api.patches import merged, patched
from fakes.kube_api.pod_log import PodLogs
from fakes.kube_api.refusals import Cause as Why
from fakes.kube_api.refusals import (
    Refused,
    bad_request,
    invalid,
    no_such_path,
    not_allowed,
    unauthorized,
    unsupported,
)
from fakes.kube_api.routes import Target, target_of
from fakes.kube_api.selectors import by_fields, by_labels
from fakes.kube_api.store import Object, Store
from fakes.kube_api.tables import only_metadata, table, wants_metadata, wants_table
from fakes.kube_api.token_check import TokenRefused
from fakes.kube_api.trees import copied
from fakes.kube_api.validation import Strictness, cleaned
from fakes.kube_api.watch import watch

WATCH_S = 1800.0
_WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_LIST_MAX = 500
_STRICTNESS: dict[str, Strictness] = {"Strict": "Strict", "Warn": "Warn", "Ignore": "Ignore"}


@dataclass
class Api:
    """The server's parts.

    Attributes:
        authenticate: from an Authorization header to its caller; raises TokenRefused.
        strict: what is done with unknown fields when the caller says nothing (Kubernetes: Warn).
        refusals: why tokens were refused, which the callers are not told.
    """

    store: Store
    access: Access
    authenticate: Callable[[str], Caller]
    strict: Strictness = "Strict"
    logs: PodLogs = field(default_factory=PodLogs)
    owners: Owners = field(default_factory=Owners)
    refusals: list[str] = field(default_factory=list)
    open_: Callable[[], bool] = lambda: True

    def answer(self, call: Call) -> Answer:
        """Answer a call; a refusal is an answer too."""
        try:
            return self._answer(call)
        except Refused as refused:
            return Answer(refused.code, refused.status(), refused.headers)

    def _answer(self, call: Call) -> Answer:
        if call.path in {"/healthz", "/livez", "/readyz"}:
            return Answer(200, b"ok")
        caller = self._caller(call)
        if call.method == "GET":
            told = discovery.document(call.path, self.store.kinds)
            if told is not None:
                return Answer(200, told)
        if call.path == f"/apis/{discovery.REVIEW_GROUP}/v1/{discovery.REVIEW}":
            return self._review(caller, call)
        target = target_of(call.path, self.store.kinds)
        verb = _verb(call, target)
        self.access.check(
            caller,
            Request(verb, target.kind.group, target.resource, _namespace_of(target), target.name),
        )
        return self._serve(verb, target, call)

    def _caller(self, call: Call) -> Caller:
        try:
            return self.authenticate(call.headers.get("authorization", ""))
        except TokenRefused as error:
            self.refusals.append(str(error))
            raise unauthorized() from error

    def _serve(self, verb: str, target: Target, call: Call) -> Answer:
        if verb == "get" and target.subresource == "log":
            pod = self.store.get(target.kind, target.name, target.namespace)
            return Answer(200, self.logs.read(pod, call), {"Content-Type": "text/plain"})
        if verb == "get":
            found = self.store.get(target.kind, target.name, target.namespace)
            return Answer(200, self._shown(found, target, call))
        if target.subresource not in ("", "status"):
            raise not_allowed()
        serve = {
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_all,
        }
        return serve[verb](target, call)

    def _list(self, target: Target, call: Call) -> Answer:
        fits = _selector(target, call)
        items, version = self.store.list(target.kind, target.namespace)
        found = [self._versioned(item, target) for item in items if fits(item)]
        page, rest = _page(found, call)
        if wants_table(call.headers.get("accept", "")):
            rows = table(target.kind, page, str(version), self.store.clock.now())
            rows["metadata"] |= rest
            return Answer(200, rows)
        for item in page:
            # A list names the kind once, for all its items.
            if not target.kind.is_custom:
                item.pop("kind"), item.pop("apiVersion")
        metadata = {"resourceVersion": str(version), **rest}
        body = {
            "kind": f"{target.kind.kind}List",
            "apiVersion": target.kind.api_version(target.version),
            "metadata": metadata,
            "items": page,
        }
        if wants_metadata(call.headers.get("accept", "")):
            body = only_metadata(body)
        return Answer(200, body)

    def _watch(self, target: Target, call: Call) -> Answer:
        if call.flag("sendInitialEvents"):
            field_ = "sendInitialEvents"
            raise invalid(
                "meta.k8s.io",
                "ListOptions",
                "",
                [Why("FieldValueForbidden", "forbidden for watch unless WatchList is on", field_)],
            )
        asked = call.query.get("resourceVersion", "")
        if not asked.isdigit() and asked:
            raise bad_request(f"invalid resource version {asked!r}")
        since = int(asked or 0) or self.store.version
        within_s = float(call.query.get("timeoutSeconds") or WATCH_S)
        fits = _selector(target, call)
        events = watch(self.store, target.kind, target.namespace, fits, since, within_s, self.open_)
        return Answer(200, self._shown_events(events, target, call))

    def _shown_events(
        self, events: Iterator[dict[str, Any]], target: Target, call: Call
    ) -> Iterator[dict[str, Any]]:
        for event in events:
            if event["type"] == "ERROR":
                yield event
            else:
                yield {**event, "object": self._shown(event["object"], target, call)}

    def _create(self, target: Target, call: Call) -> Answer:
        if target.name:
            raise not_allowed()
        made, headers = self._cleaned(call.document(*JSON_TYPES), target, call)
        kept = self.store.create(target.kind, copied(made), target.namespace, dry=_is_dry(call))
        self._note_maker(kept, made, call)
        return Answer(201, self._shown(kept, target, call), headers)

    def _update(self, target: Target, call: Call) -> Answer:
        made, headers = self._cleaned(call.document(*JSON_TYPES), target, call)
        if made["metadata"].get("name") != target.name:
            raise bad_request("the name of the object does not match the name on the URL")
        if not made["metadata"].get("resourceVersion"):
            cause = Why(
                "FieldValueInvalid", "must be specified for an update", "metadata.resourceVersion"
            )
            raise invalid(target.kind.group, target.kind.kind, target.name, [cause])
        kept = self.store.replace(
            target.kind,
            made,
            target.namespace,
            subresource=target.subresource,
            dry=_is_dry(call),
        )
        return Answer(200, self._shown(kept, target, call), headers)

    def _patch(self, target: Target, call: Call) -> Answer:
        accepted = (MERGE, JSON_PATCH, APPLY)
        document = call.document(*accepted, *(() if target.kind.is_custom else (STRATEGIC,)))
        if call.content_type == STRATEGIC and any(
            isinstance(value, list) for _, value in leaves(document)
        ):
            raise unsupported(call.content_type, accepted)
        with self.store.lock:
            if call.content_type == APPLY:
                return self._apply(document, target, call)
            now = self._versioned(
                self.store.get(target.kind, target.name, target.namespace), target
            )
            change = patched if call.content_type == JSON_PATCH else merged
            made, headers = self._cleaned(change(now, document), target, call)
            kept = self.store.replace(
                target.kind,
                made,
                target.namespace,
                subresource=target.subresource,
                dry=_is_dry(call),
            )
        return Answer(200, self._shown(kept, target, call), headers)

    def _apply(self, wanted: Object, target: Target, call: Call) -> Answer:
        manager = call.query.get("fieldManager", "")
        if not manager:
            raise bad_request("fieldManager is required for apply patch")
        wanted.setdefault("metadata", {})["name"] = target.name
        try:
            now = self.store.get(target.kind, target.name, target.namespace)
        except Refused:
            if target.subresource:
                raise
            made, headers = self._cleaned(wanted, target, call)
            kept = self.store.create(target.kind, copied(made), target.namespace, dry=_is_dry(call))
            self._note_maker(kept, wanted, call)
            return Answer(201, self._shown(kept, target, call), headers)
        uid = now["metadata"]["uid"]
        now = self._versioned(now, target)
        made = self.owners.applied(uid, now, wanted, manager, call.flag("force"))
        made, headers = self._cleaned(made, target, call)
        kept = self.store.replace(
            target.kind, made, target.namespace, subresource=target.subresource, dry=_is_dry(call)
        )
        return Answer(200, self._shown(kept, target, call), headers)

    def _delete(self, target: Target, call: Call) -> Answer:
        options = call.document(*JSON_TYPES) if call.body else {}
        propagation = options.get("propagationPolicy") or call.query.get(
            "propagationPolicy", "Background"
        )
        if propagation not in {"Background", "Foreground", "Orphan"}:
            raise bad_request(f"invalid propagationPolicy {propagation!r}")
        last = self.store.delete(
            target.kind,
            target.name,
            target.namespace,
            propagation=propagation,
            uid=options.get("preconditions", {}).get("uid", ""),
        )
        if "deletionTimestamp" in last["metadata"]:
            return Answer(200, self._shown(last, target, call))
        self.owners.forget(last["metadata"]["uid"])
        details = {
            "name": target.name,
            "group": target.kind.group,
            "kind": target.kind.plural,
            "uid": last["metadata"]["uid"],
        }
        body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return Answer(200, {**body, "details": details})

    def _delete_all(self, target: Target, call: Call) -> Answer:
        fits = _selector(target, call)
        items, _ = self.store.list(target.kind, target.namespace)
        for item in filter(fits, items):
            metadata = item["metadata"]
            self.store.delete(target.kind, metadata["name"], metadata.get("namespace", ""))
        return Answer(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def _review(self, caller: Caller, call: Call) -> Answer:
        if call.method != "POST":
            raise not_allowed()
        body = call.document(*JSON_TYPES)
        asked = body.get("spec", {}).get("resourceAttributes", {})
        resource = asked.get("resource", "")
        if asked.get("subresource"):
            resource += f"/{asked['subresource']}"
        wanted = Request(
            asked.get("verb", ""),
            asked.get("group", ""),
            resource,
            asked.get("namespace", ""),
            asked.get("name", ""),
        )
        status = {"allowed": self.access.allows(caller, wanted)}
        return Answer(201, {**body, "metadata": {}, "status": status})

    def _cleaned(self, body: Any, target: Target, call: Call) -> tuple[Object, dict[str, str]]:
        if not isinstance(body, dict):
            raise bad_request("the body is not an object")
        asked = call.query.get("fieldValidation", "")
        if asked and asked not in _STRICTNESS:
            raise bad_request(f"invalid fieldValidation {asked!r}")
        made, warning = cleaned(body, target.kind, _STRICTNESS.get(asked, self.strict))
        return made, {"Warning": f'299 - "{warning}"'.replace('"unk', "unk")} if warning else {}

    def _note_maker(self, kept: Object, wanted: Object, call: Call) -> None:
        manager = call.query.get("fieldManager", "")
        if manager and not _is_dry(call):
            self.owners.start(kept["metadata"]["uid"], wanted, manager)

    def _versioned(self, item: Object, target: Target) -> Object:
        return {
            **item,
            "apiVersion": target.kind.api_version(target.version),
            "kind": target.kind.kind,
        }

    def _shown(self, item: Object, target: Target, call: Call) -> dict[str, Any]:
        item = self._versioned(item, target)
        if wants_table(call.headers.get("accept", "")):
            version = item["metadata"].get("resourceVersion", "")
            return table(target.kind, [item], version, self.store.clock.now())
        return only_metadata(item) if wants_metadata(call.headers.get("accept", "")) else item


def _verb(call: Call, target: Target) -> str:
    if call.method == "GET":
        if call.flag("watch"):
            return "watch"
        return "get" if target.name else "list"
    if call.method not in _WRITES:
        raise not_allowed()
    if call.method == "DELETE" and not target.name:
        return "deletecollection"
    if call.method in {"PUT", "PATCH"} and not target.name:
        raise not_allowed()
    if target.kind.namespaced and not target.namespace:
        raise no_such_path()
    return _WRITES[call.method]


def _namespace_of(target: Target) -> str:
    if target.kind.plural == "namespaces":
        return target.name
    return target.namespace


def _selector(target: Target, call: Call) -> Callable[[Object], bool]:
    labels = by_labels(call.query.get("labelSelector", ""))
    fields = by_fields(call.query.get("fieldSelector", ""), target.kind.plural)
    names = {target.name} if target.name else None
    return lambda it: (
        labels(it) and fields(it) and (names is None or it["metadata"]["name"] in names)
    )


def _page(found: list[Object], call: Call) -> tuple[list[Object], dict[str, str]]:
    """A page of a list: callers that don't follow `continue` see only the first."""
    start = int(call.query.get("continue") or 0)
    limit = int(call.query.get("limit") or 0) or len(found)
    page = found[start : start + limit]
    rest = len(found) - start - len(page)
    if rest <= 0:
        return page, {}
    return page, {"continue": str(start + len(page)), "remainingItemCount": str(rest)}


def _is_dry(call: Call) -> bool:
    asked = call.query.get("dryRun", "")
    if asked not in ("", "All"):
        raise bad_request(f"invalid dryRun {asked!r}")
    return asked == "All"
