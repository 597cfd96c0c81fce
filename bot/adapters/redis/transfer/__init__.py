"""The schema of the stored data, and its transfer into another store."""
