"""Requests and commands from Slack, and conversations in threads."""
