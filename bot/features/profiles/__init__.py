"""Profiles: what a team's own tree uses of an upstream repository."""
