"""Summaries of pull requests by the model, and the verification of their quotes."""
