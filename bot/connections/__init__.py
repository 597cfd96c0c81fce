"""What leads to the outside: credentials, providers of models, GitHub, and clones of repositories."""
