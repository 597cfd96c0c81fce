"""Runner of the steps of workflows: each is done once, and its end is reported to Slack once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from bot.domain.errors import PostingInProgress, PrdigestError, RateLimited, SlackUnavailable, StoreUnavailable
from bot.domain.keyspace.keys import STEP_RUN, STEP_TOKEN
from bot.ports import Cache, RecordStore
from bot.ports.slack.workflow_steps import StepReporter
from bot.render.conversations.notices import describe_error
from bot.services.steps.step_run import StepOutputs, StepRun

log = logging.getLogger(__name__)

_PASSING = (PostingInProgress, RateLimited, SlackUnavailable, StoreUnavailable)


class StepRunner:
    """Service that runs steps. ``cache`` has the token of each workflow until Slack takes it no more."""

    def __init__(
        self, reporter: StepReporter, records: RecordStore[StepRun], cache: Cache, now: Callable[[], datetime]
    ) -> None:
        self._reporter = reporter
        self._records = records
        self._cache = cache
        self._now = now

    def run(self, execution: str, work: Callable[[], StepOutputs]) -> None:
        """Do the work of a step unless it is done, and report its end to Slack unless that is done.

        A process that dies after the work leaves its result, and one that dies after the report leaves a step
        that Slack no longer takes a report for.

        Raises:
            PostingInProgress, RateLimited, SlackUnavailable, StoreUnavailable: another call continues from there.
        """
        key = STEP_RUN.build_key(execution)
        with self._records.hold_lock(key):
            run = self._records.load(key)
            if run.reported_at:
                return
            if not run.is_decided:
                run = self._records.save(key, run, _do_work(execution, run, work))
            self._report(execution, run)
            self._records.save(key, run, run.report(self._now()))

    def _report(self, execution: str, run: StepRun) -> None:
        token = self._cache.get(STEP_TOKEN.build_key(execution))
        if token is None:
            log.warning("step %s ends too late: its workflow waits no more", execution)
        elif run.failure:
            self._reporter.fail(execution, token, run.failure)
        else:
            self._reporter.complete(execution, token, run.outputs.list_named())


def _do_work(execution: str, run: StepRun, work: Callable[[], StepOutputs]) -> StepRun:
    """Return the record with the result. Raises errors that another attempt may avoid."""
    try:
        return run.succeed(work())
    except _PASSING:
        raise
    except PrdigestError as error:
        log.info("step %s failed: %s", execution, error)
        return run.fail(describe_error(error, execution))
    except Exception as error:
        log.exception("a defect [%s]", execution)
        return run.fail(describe_error(error, execution))
