"""Files on this machine: the path settings, and folders that only one user may read."""
