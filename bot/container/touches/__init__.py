"""What merges change for others, and what they do to a team's code."""
