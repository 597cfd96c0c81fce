"""Commands about what merges mean for those who build on a repository."""
