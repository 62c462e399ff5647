"""Policies: Hugging Face models and tokenizers in plain folders."""
