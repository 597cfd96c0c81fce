"""The table of the tools, in the order in which clients list them."""

from __future__ import annotations

from bot.domain.conversations.tool_names import ToolName
from bot.features.questions import tools
from bot.features.questions.tools import (
    DiffArguments,
    DiscussionArguments,
    FileArguments,
    ListArguments,
    PullArguments,
    SearchArguments,
    TakenBackArguments,
    UsesArguments,
)
from bot.mcp import contract_tools, day_tools, profile_tools, reading_tools
from bot.mcp.arguments import (
    ContractArguments,
    FileAtCommitArguments,
    OutcomeArguments,
    ProfileUseArguments,
    ReportArguments,
    SuspectArguments,
    TouchArguments,
    UpgradeArguments,
)
from bot.mcp.declaration import ToolDeclaration as Tool
from bot.mcp.reading_tools import answer_with

# a traceback is pasted as it is
_MAX_ERROR_INPUT = 110_000

TOOLS = (
    # those of answers in Slack
    Tool(
        ToolName.LIST_PULL_REQUESTS,
        "List merged pull requests",
        ListArguments,
        answer_with(tools.list_pull_requests),
    ),
    Tool(ToolName.SEARCH, "Search diffs and texts", SearchArguments, answer_with(tools.search_lines)),
    Tool(
        ToolName.PULL_REQUEST, "Describe a pull request", PullArguments, answer_with(tools.describe_pull_request)
    ),
    Tool(ToolName.READ_DIFF, "Read a diff or parts of it", DiffArguments, answer_with(tools.read_diff)),
    Tool(ToolName.TAKEN_BACK, "List what was taken back", TakenBackArguments, answer_with(tools.list_reverts)),
    Tool(ToolName.READ_FILE, "Read a file after a pull request", FileArguments, reading_tools.read_file),
    Tool(ToolName.FIND_USES, "Find the uses of a name", UsesArguments, answer_with(tools.find_uses)),
    Tool(ToolName.READ_DISCUSSION, "Read a discussion", DiscussionArguments, answer_with(tools.read_discussion)),
    # of agents alone
    Tool("file_at_commit", "Read a file at a commit", FileAtCommitArguments, reading_tools.read_file_at_commit),
    Tool("day_report", "Read the reports of days", ReportArguments, day_tools.render_reports),
    Tool(
        "outcomes",
        "List what became of merges",
        OutcomeArguments,
        day_tools.list_outcomes,
        item=day_tools.OutcomeItem,
    ),
    Tool(
        "contract_changes",
        "List what merges change for others",
        ContractArguments,
        contract_tools.list_changes,
        item=contract_tools.ContractItem,
    ),
    Tool(
        "suspects",
        "Find the merge behind an error",
        SuspectArguments,
        contract_tools.find_suspects,
        most_input=_MAX_ERROR_INPUT,
    ),
    Tool(
        "touches",
        "List what touches a team's code",
        TouchArguments,
        profile_tools.list_touches,
        item=profile_tools.HitItem,
        needs_profiles=True,
    ),
    Tool(
        ToolName.FIND_PROFILE_USES,
        "Find a name in a team's code",
        ProfileUseArguments,
        profile_tools.find_profile_uses,
        needs_profiles=True,
    ),
    Tool(
        "upgrade_plan",
        "Plan the way to a later commit",
        UpgradeArguments,
        profile_tools.render_upgrade_plan,
        needs_profiles=True,
    ),
)
