"""The sample day: a file of a public day, in the place of GitHub and a model."""
