"""The local stack: an embedded AWS, the real template deployed to it, and Ray."""
