"""Profiles, as people read them."""
