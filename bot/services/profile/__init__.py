"""Profiles: what a team uses of an upstream repository."""
