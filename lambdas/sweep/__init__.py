"""Once a minute, finds what events did not tell."""
