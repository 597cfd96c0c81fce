"""Dramatiq: its broker on Redis, with protection against the loss of jobs, and how attempts end."""
