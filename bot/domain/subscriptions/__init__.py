"""Subscriptions: which channel gets which digest, and when."""
