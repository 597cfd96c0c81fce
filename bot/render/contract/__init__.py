"""Contract changes for readers."""
