"""Contract changes: what merges change for code, deployments and clients."""
