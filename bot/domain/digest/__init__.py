"""The digest of one day or of several."""
