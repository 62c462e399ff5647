"""`relay doctor`: whether an account has what Relay needs, each thing with its remedy.

Facts are fetched in one place (`reading`), and nothing but read; what they mean is decided by pure
functions (`checks`); the order is that of `examination`.
"""
