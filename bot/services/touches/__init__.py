"""What merges mean for the code that a team builds on a repository, and a replay of the past."""
