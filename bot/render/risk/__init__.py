"""Risk lists, their score and their evaluation."""
