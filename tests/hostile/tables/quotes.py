"""Quotes that a model gives as proof and that prove nothing, and such as do.

What must not happen: that one of the first is shown as evidence, is linked in an answer, or lets the reason of a
risk or an action through; or that one of the others is not.
"""

PATH = "engine/core.py"
PATCH = """@@ -1,9 +1,20 @@ class Scheduler:
 import os
 import json
 # what waits
 def schedule_requests(self, waiting):
     for request in waiting:
         if request.done:
             continue
-        return 0
+            return 0
+        else:
+            pass
+        timeout = 30
+        retries = 5
+        self.released_blocks += free_blocks(request)
+        return None
+}}}}}}}}
+# ----------------
+import os
+log(total)
+        raise ValueError("the queue of the engine is full")
+        continue
+        x = y + z
     unchanged_context_of_the_change(waiting)"""
# quote, why it is none
TRIVIAL: dict[str, str] = {
    "a statement": "continue",
    "a statement with its blanks": "            continue",
    "a return": "return 0",
    "a return of nothing": "return None",
    "an import": "import os",
    "an import of another": "import json",
    "a branch": "else:\n            pass",
    "braces": "}}}}}}}}",
    "some of the braces": "}}}}}",
    "a line of dashes": "# ----------------",
    "letters": "x = y + z",
    "half a word at its end": "self.released_blo",
    "half a word at its beginning": "eased_blocks += free_blocks",
    "half a word on both sides": "ree_blocks(requ",
    "a name and half a word": "raise ValueErr",
    "one common word": "timeout",
    "nothing": "",
    "blanks": " \n ",
    "marks": "+ + + + + +",
}
# they stand there, and were there before
UNCHANGED: dict[str, str] = {
    "a function": "def schedule_requests(self, waiting):",
    "a loop": "for request in waiting:",
    "the last line": "unchanged_context_of_the_change(waiting)",
}
GOOD: dict[str, str] = {
    "a number": "timeout = 30",
    "a small number": "retries = 5",
    "a call": "self.released_blocks += free_blocks(request)",
    "part of a line": "released_blocks += free_blocks",
    "a single name": "released_blocks",
    "two short words": "log(total)",
    "words": 'raise ValueError("the queue of the engine is full")',
    "some of the words": "the queue of the engine",
    "two lines": "retries = 5\nself.released_blocks += free_blocks(request)",
    "from what was there into what is new": "if request.done:\n            continue\n            return 0",
    "with its mark": "+        timeout = 30",
}
