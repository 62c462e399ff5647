"""The control plane as a CDK app: settings, one stack, and components named by their role."""
