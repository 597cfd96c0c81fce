"""Local clones and working trees, read by the git program."""
