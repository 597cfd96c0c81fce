"""Small repositories and values for tests, also for those of other packages."""
