"""The embedded AWS: MiniStack on 127.0.0.1 in its own process, with its gaps closed."""
