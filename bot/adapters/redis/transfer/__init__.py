"""Erasure of what a store holds about people and channels, and its reset for a new Slack."""
