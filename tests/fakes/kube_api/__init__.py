"""A small Kubernetes API server over TLS with KubeRay and Kueue played from scripts.

Stricter than a real one where it can: fields that a schema does not know are refused unless the
caller asks for less, pod templates are checked when the RayJob is created, tokens must be formed
as EKS demands. `cluster.FakeCluster` is the whole; every other module holds one idea.
"""
