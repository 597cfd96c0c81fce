"""A comparison with another tool that summarizes pull requests, on the same emulators."""
