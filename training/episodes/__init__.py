"""Pairs as phases hand them on, and as token ids."""
