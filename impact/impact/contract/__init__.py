"""Contract changes: what a merge changes for code, deployments and clients that build on a repository."""
