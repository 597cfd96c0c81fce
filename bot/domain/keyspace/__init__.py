"""The keys of the store."""
