"""Common parts of all HTTP clients: deadlines, connections that can be interrupted, and response headers."""
