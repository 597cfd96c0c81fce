"""Interfaces to Slack."""
