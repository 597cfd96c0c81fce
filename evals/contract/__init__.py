"""Contract changes of Python code, measured on merges that were read by hand, and on sampled ones."""
