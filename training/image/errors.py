"""Why an image could not be checked, or did not pass."""

from __future__ import annotations


class CannotCheck(Exception):
    """This machine lacks something; says nothing about the image."""

    exit_code = 3


class ImageWrong(Exception):
    """The image was built or run, and is not as it must be."""

    exit_code = 1
