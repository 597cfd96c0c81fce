"""A blind trial of the summaries against the public reports of the same days.

The method is in ``README.md`` beside this file, the instructions for readers and judges in ``reader.md`` and
``judge.md``, and what judges said in ``verdicts``.
"""
