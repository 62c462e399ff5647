"""Starts one attempt of a phase for one task token."""
