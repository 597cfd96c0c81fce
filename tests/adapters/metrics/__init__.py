"""Metrics for Prometheus, as it reads them."""
