"""Profiles: scans of teams' trees, their links to upstream, and their daily refresh."""
