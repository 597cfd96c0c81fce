"""What became of GitHub's pull requests, by what their texts say."""

from __future__ import annotations

from bot.domain.pull_requests.models import PullRequest
from impact.history import outcomes, revert_index

RevertIndex = revert_index.RevertIndex[PullRequest]
MergeOutcome = outcomes.MergeOutcome[PullRequest]
