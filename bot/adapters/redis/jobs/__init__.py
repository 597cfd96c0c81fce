"""Dramatiq's broker, and what keeps its jobs from being lost."""
