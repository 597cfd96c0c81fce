"""The digest of a day or of several: what is in it, how it looks, and how it is posted."""
