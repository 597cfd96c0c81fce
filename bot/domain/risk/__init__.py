"""Which merged pull requests deserve a second look."""
