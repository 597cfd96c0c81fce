"""Settings for access: who may ask, how often, and at what cost."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import SlackIds

_ADMISSION_PROCESSES = (Process.WEB, Process.WORKER)
_BUDGET_PROCESSES = (Process.WORKER,)
_REVIEW_PROCESSES = (Process.WORKER, Process.COMMANDS)


class AccessSettings(SettingsGroup):
    """Who may ask, how often, and at what cost."""

    heading: ClassVar = "Who may ask"

    prdigest_allowed_workspaces: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description=(
            "Ids of other workspaces whose people are answered too, separated by commas. People of other "
            "workspaces (T…), as in shared channels, are refused unless theirs is listed here; those of the "
            "bot's own workspace never are. Slack names organisations (E…) with commands only."
        ),
    )
    prdigest_allowed_channels: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description=(
            "Ids of the only channels (C…, G…, D…) that are answered, separated by commas; empty means all."
        ),
    )
    prdigest_allowed_users: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description="Ids of the only people (U…, W…) who are answered, separated by commas; empty means all.",
    )
    prdigest_user_limit: Annotated[int, Field(ge=1, le=1_000), SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=20, description="Requests of one person in a minute, 1 to 1000."
    )
    prdigest_user_calls: Annotated[int, Field(ge=1, le=1_000), SettingUse(_BUDGET_PROCESSES)] = Field(
        default=100,
        description=(
            "Model calls of one person in a minute, 1 to 1000: what has time waits then, the rest comes "
            "as facts alone."
        ),
    )
    prdigest_daily_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_BUDGET_PROCESSES)] = (
        Field(
            default=10.0,
            description=(
                "US dollars that all model calls of a day in PRDIGEST_TIMEZONE may cost. People together use "
                "up to three quarters, so that scheduled digests have the rest. As it runs out, overviews are "
                "left out first, then small pull requests come as facts, then all; what is posted says so. "
                "Commands on the command line don't count."
            ),
        )
    )
    prdigest_review_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_REVIEW_PROCESSES)] = (
        Field(
            default=1.0,
            description=(
                "US dollars that the second reading, a review of riskier pull requests for bugs by "
                "PRDIGEST_ANSWER_MODEL, may cost on that day, also from the command line; 0 turns it off. A "
                "review costs about 4 cents, and begins only if twice as much is left. It counts into "
                "PRDIGEST_DAILY_BUDGET too, and is left out first there."
            ),
        )
    )
    prdigest_user_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_BUDGET_PROCESSES)] = (
        Field(default=2.0, description="US dollars that one person's model calls of that day may cost.")
    )
