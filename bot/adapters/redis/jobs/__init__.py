"""Dramatiq's broker, with protection against the loss of jobs."""
