"""Reads and summarizes single pull requests."""
