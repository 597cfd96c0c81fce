"""Pull requests, their diffs and paths, and how people refer to them."""
