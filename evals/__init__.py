"""How good the answers are: questions with known answers over real days, asked of the real model.

``python -m evals`` needs ANTHROPIC_API_KEY and GITHUB_TOKEN. It costs some cents a day of questions.
"""
