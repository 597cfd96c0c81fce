"""Adapters for language models, a package for each provider."""
