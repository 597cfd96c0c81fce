"""The results of work on past days, for a terminal."""
