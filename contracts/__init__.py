"""What crosses a boundary: frozen models, names, limits and errors.

Imports pydantic and the standard library only, so that a function, a training job and the
operator's tool can all read the same objects.
"""
