"""The sample: a file of a public day, instead of GitHub and a model."""
