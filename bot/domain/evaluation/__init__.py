"""The evaluation of hits on the past of two clones: figures, their intervals, and the verdict."""
