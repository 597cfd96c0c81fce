"""The quality of the answers: questions with known answers about real days, put to the real model.

``python -m evals`` needs ANTHROPIC_API_KEY and GITHUB_TOKEN. It costs some cents a day of questions. Its other
commands work without them.
"""
