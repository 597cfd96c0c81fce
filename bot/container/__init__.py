"""Builders that are left."""
