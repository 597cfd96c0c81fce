"""What merges mean for a team, as tables and texts."""
