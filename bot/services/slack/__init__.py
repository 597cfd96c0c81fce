"""Requests from Slack: who may ask, and how each gets its answer once."""
