"""Builds digests and posts them."""
