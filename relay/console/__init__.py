"""Reading a control plane, and drawing what was read."""
