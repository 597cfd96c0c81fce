"""Measurements of time, memory, calls and tokens, with their bounds."""
