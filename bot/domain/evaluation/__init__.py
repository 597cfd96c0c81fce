"""The evaluation of a ranking of merged pull requests: figures, their intervals, and the verdict."""
