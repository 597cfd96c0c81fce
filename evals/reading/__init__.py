"""The AI bug review, measured with readers in place of the model: on matched pairs, and on whole days.

Each prompt is what the bot would send about one merge. The instructions for readers are in ``reader.md`` beside
this file, those for judges of whole days in ``judge.md``.
"""
