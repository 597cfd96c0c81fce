"""Questions in threads, and their answers."""
