"""Scanners of files: what their text says of an upstream repository."""
