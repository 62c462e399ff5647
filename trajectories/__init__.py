"""Formats people keep: recognise, read, check, and bring to one form.

Imports contracts, pydantic and the standard library only.
"""
