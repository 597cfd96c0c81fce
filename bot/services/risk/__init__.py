"""Risk lists and their track record."""
