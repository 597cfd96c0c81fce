"""Touches: reports of what merges do to profiles, and what people said about them."""
