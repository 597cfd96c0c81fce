"""Interfaces to language models and their providers."""
