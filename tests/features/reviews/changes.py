"""What the tests of reviews share: a pull request with its files on an emulated GitHub, and a reviewer of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from github import Auth

from bot.features.merges.review import BugReview
from bot.features.reviews.reading import MAX_DIFF_TOKENS, REVIEW_LIMITS, Reviewer, ReviewResult
from bot.platform.github.caches import SourceFileCache
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.models import ChatModel
from bot.platform.models.agent import AgentLimits
from bot.platform.models.claude import CLAUDE
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.source.reading import CodeSources
from bot.platform.store.tables import Store
from tests.emulators.claude.server import ClaudeEmulator, Json, Step, ToolUse, ToolUses, review_answer, suspicion
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.builders import pull
from tests.helpers.doubles import MemoryStore, Sleeps
from tests.helpers.worlds import REPO, ScriptedGitHub

MODEL = "claude-sonnet-5-5"
# lines between functions, so that not all of the file is shown around a change
LIMITS = "\n".join(f"LIMIT_{n} = {n}" for n in range(20))
CORE = f"""import math


def split_batch(batch, workers):
    size = len(batch) // workers
    return [batch[at : at + size] for at in range(0, len(batch), size)]


def count_workers(options):
    return options.workers


{LIMITS}


def split_rows(rows, workers):
    return split_batch(rows, workers)
"""
PATCH = """@@ -4,3 +4,3 @@ import math
 def split_batch(batch, workers):
-    size = math.ceil(len(batch) / workers)
+    size = len(batch) // workers
     return [batch[at : at + size] for at in range(0, len(batch), size)]"""
CALLER = "from engine.core import split_batch\n\n\ndef run(batch):\n    return split_batch(batch, workers=8)\n"
CHANGE = ChangedFile("engine/core.py", "modified", 1, 1, PATCH)
TREE = {"engine/core.py": Entry(CORE.encode()), "engine/run.py": Entry(CALLER.encode())}
SEVEN = pull(7, title="Split faster", body="No ceil is needed.", files=(CHANGE,))
DIVISION = "size = len(batch) // workers"
CONFIRMED = suspicion(
    consequence="Splitting raises ValueError.",
    trigger="A batch smaller than the number of workers.",
    path="engine/core.py",
    quote=DIVISION,
    line=5,
    status="confirmed",
    certainty="high",
    advice="adapt",
)


def add_change(github: ScriptedGitHub, change: PullRequest = SEVEN) -> None:
    """Put the files after the change on GitHub."""
    github.add_commit(REPO, TreeCommit(str(change.merge_commit), FixedTree(TREE)))


def read_files(github: ScriptedGitHub, cache: Store | None = None) -> CodeSources:
    """Where the reviewer reads code: from GitHub, through a cache."""
    files = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    return CodeSources(SourceFileCache(files, cache or MemoryStore()))


@dataclass
class Desk:
    chat: ChatModel
    claude: ClaudeEmulator
    code: CodeSources = field(default_factory=CodeSources)
    limits: AgentLimits = REVIEW_LIMITS
    sleeps: Sleeps = field(default_factory=Sleeps)
    clock: Callable[[], float] = lambda: 0.0
    name: str = MODEL

    @property
    def reviewer(self) -> Reviewer:
        return Reviewer(
            self.chat,
            self.name,
            CLAUDE.prices,
            MAX_DIFF_TOKENS,
            self.code,
            self.sleeps,
            clock=self.clock,
            limits=self.limits,
        )

    def result(self, *steps: Step, of: PullRequest = SEVEN) -> ReviewResult:
        self.claude.script(*steps)
        reviewer = self.reviewer
        return reviewer.review(of, reviewer.start_cost(of))

    def review(self, *steps: Step, of: PullRequest = SEVEN) -> BugReview:
        review_result = self.result(*steps, of=of)
        assert not self.claude.problems
        return review_result.review

    def list_last_blocks(self, at: int = -1) -> list[dict[str, Any]]:
        content = self.claude.requests[at]["messages"][-1]["content"]
        return content if isinstance(content, list) else [{"type": "text", "text": content}]

    def results(self, at: int = -1) -> list[str]:
        return [str(block["content"]) for block in self.list_last_blocks(at) if block["type"] == "tool_result"]


def report(*suspicions: dict[str, Any], **fields: Any) -> Json:
    return Json(review_answer(*suspicions, **fields))


def use(tool: str, /, **arguments: Any) -> ToolUse:
    return ToolUse(tool, arguments)


def use_all(*calls: tuple[str, dict[str, Any]]) -> ToolUses:
    return ToolUses(calls)


def size_of(body: dict[str, Any]) -> int:
    return len(json.dumps(body))
