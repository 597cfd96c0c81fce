"""The AI bug review, measured with readers in place of the model.

Each prompt is what the bot would send about one merge of a matched pair. The instructions for readers are in
``reader.md`` beside this file.
"""
