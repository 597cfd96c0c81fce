"""What was done for past days, for a terminal."""
