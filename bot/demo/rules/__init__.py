"""How questions are answered without a model: what is asked, which tools tell it, and how it is said."""
