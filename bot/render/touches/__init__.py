"""Touches of a profile for readers."""
