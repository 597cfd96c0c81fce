"""The evaluation of touches on the past of two clones: figures, their intervals, and the verdict."""
