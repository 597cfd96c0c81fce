"""What somebody can do with what is in front of them: controls, choices, and what an app answers to a form."""
