"""Reviews of merged pull requests for bugs: asked for once, checked by code, kept, and within a budget."""
