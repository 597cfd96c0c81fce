"""Settings for access: who may ask, how often, and at what cost."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import SlackIds

_ADMISSION_PROCESSES = (Process.WEB, Process.WORKER)
# the metrics of each process show it; commands print it
_SPENDING_PROCESSES = (Process.WEB, Process.WORKER, Process.CLOCK, Process.COMMANDS)
_BUDGET_PROCESSES = (Process.WORKER,)
# commands have a second reading too, and print the limits
_LIMIT_PROCESSES = (Process.WORKER, Process.COMMANDS)


class AccessSettings(SettingsGroup):
    """Who may ask, how often, and at what cost."""

    heading: ClassVar = "Who may ask"

    prdigest_allowed_workspaces: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description=(
            "Ids (T…) of other workspaces whose people may ask too, separated by commas. By default, only people "
            "of the bot's own workspace may ask, also in shared channels. Slack gives the id of an organization "
            "(E…) with commands only."
        ),
    )
    prdigest_allowed_channels: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description=(
            "Ids of the only channels (C…, G…, D…) where the bot answers, separated by commas. Empty means all."
        ),
    )
    prdigest_allowed_users: Annotated[SlackIds, SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=frozenset(),
        description="Ids of the only people (U…, W…) who may ask, separated by commas. Empty means all.",
    )
    prdigest_user_limit: Annotated[int, Field(ge=1, le=1_000), SettingUse(_ADMISSION_PROCESSES)] = Field(
        default=20, description="Maximum requests of one person in a minute, 1 to 1000."
    )
    prdigest_user_calls: Annotated[int, Field(ge=1, le=1_000), SettingUse(_BUDGET_PROCESSES)] = Field(
        default=100,
        description=(
            "Maximum model calls of one person in a minute, 1 to 1000. Above that, the bot waits if there is "
            "time, and otherwise answers with facts only."
        ),
    )
    prdigest_daily_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_SPENDING_PROCESSES)] = (
        Field(
            default=10.0,
            description=(
                "Maximum US dollars for all model calls of a day in PRDIGEST_TIMEZONE. A quarter is reserved for "
                "scheduled digests. When the budget runs low, the bot first leaves out the second reading, then "
                "overviews. Then it "
                "summarizes small pull requests from facts only, then all; posts say so. Commands in a terminal "
                "don't count."
            ),
        )
    )
    prdigest_monthly_budget: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, SettingUse(_LIMIT_PROCESSES)
    ] = Field(
        default=None,
        description=(
            "Maximum US dollars for all model calls of a calendar month in PRDIGEST_TIMEZONE. Empty means that "
            "only the days are limited. A month that runs low leaves out the same things as a day, in the same "
            "order."
        ),
    )
    prdigest_review_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_LIMIT_PROCESSES)] = (
        Field(
            default=1.0,
            description=(
                "Maximum US dollars a day for the second reading: PRDIGEST_ANSWER_MODEL reviews the riskier pull "
                "requests for bugs. 0 turns it off. A review costs about 3 cents. It also counts toward "
                "PRDIGEST_DAILY_BUDGET, where it is left out first."
            ),
        )
    )
    prdigest_user_budget: Annotated[float, Field(ge=0, allow_inf_nan=False), SettingUse(_BUDGET_PROCESSES)] = (
        Field(default=2.0, description="Maximum US dollars for one person's model calls of a day.")
    )
