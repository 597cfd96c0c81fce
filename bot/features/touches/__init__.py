"""What merges change for others, and what that means for a team's own code."""
