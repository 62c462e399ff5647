"""A small Kubernetes API server over TLS with KubeRay and Kueue played from scripts.

Stricter than a real one where it can: fields that a schema does not know are refused unless the
caller asks for less, pod templates are checked when the RayJob is created, tokens must be formed
as EKS demands. `cluster.FakeCluster` is the whole; every other module holds one idea.

Not here: protobuf, OpenAPI v2, strategic merge patches of lists, ownership of list items in
server-side apply, bookmarks and initial events of watches, roles of the whole cluster, batch Jobs
(the submitter is a pod of the RayJob itself), nodes that fill up. Unlike on a real cluster a pod
template is refused with its RayJob, and an event is told once.
"""
