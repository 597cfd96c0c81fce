"""What pytest does otherwise here: which tests run, in which order and processes, and what these report."""
