"""Losses as pure functions, and the steps that apply them."""
