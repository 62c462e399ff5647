"""The control plane's five functions: thin handlers over pure logic and small adapters."""
