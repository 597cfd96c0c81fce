"""What users, deployers and clients depend on besides Python names: variables, flags, fields, metrics, ops."""

from impact.contract.surfaces.comparison import list_surface_changes

__all__ = ["list_surface_changes"]
