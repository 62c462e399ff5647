"""What the control plane decides; no SDK, no clock, no environment in here."""
