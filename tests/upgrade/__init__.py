"""Stores that earlier versions left behind, and the bot of today on them."""
