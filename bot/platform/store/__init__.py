"""The connection to the server, its errors, leases, and who owns it."""
