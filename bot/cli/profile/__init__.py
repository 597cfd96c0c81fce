"""Commands about profiles: scanned from a folder, and kept in the store."""
