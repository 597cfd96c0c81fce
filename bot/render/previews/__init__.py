"""Cards below links."""
