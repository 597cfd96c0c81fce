"""The checks, one file for each thing that is checked."""
