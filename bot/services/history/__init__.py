"""Reads what happened in a repository before and after a day."""
