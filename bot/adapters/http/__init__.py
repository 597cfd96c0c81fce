"""What all HTTP clients share: deadlines, connections that can be interrupted, and the headers of an answer."""
