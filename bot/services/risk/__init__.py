"""Risk lists, their evaluation and their track record."""
