"""The `kuberay` runner: a RayJob per attempt on an EKS cluster.

Loaded only where settings choose it; needs botocore and urllib3 of Lambda's runtime, no client of
Kubernetes.
"""
