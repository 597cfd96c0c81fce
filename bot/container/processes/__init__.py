"""The services of each process."""
