"""Files of a repository at a commit, and the functions and classes around a change."""
