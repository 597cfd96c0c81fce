"""The schema of what is stored, and its way into another store."""
