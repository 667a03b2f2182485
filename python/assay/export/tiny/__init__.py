"""Tiny models with random weights, and their tokenizers."""
