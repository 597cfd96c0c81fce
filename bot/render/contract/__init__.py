"""Messages about what merges change for others."""
