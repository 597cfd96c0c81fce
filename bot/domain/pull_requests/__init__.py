"""Pull requests, their diffs and paths, and the ways in which people refer to them."""
