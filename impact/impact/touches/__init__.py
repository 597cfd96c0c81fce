"""Touches: which contract changes concern which uses of a profile, and how much."""
