"""Texts about bug reviews: the findings of the second reading."""
