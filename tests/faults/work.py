from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

from localslack.users.person import Delivery

from bot.features.digest.posts import PostedDigest
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.slack.notices import NOT_POSTED_YET, STILL_WORKING
from bot.platform.store.due_queue import DueQueue, NextDigest
from impact.repository import Repository
from tests.emulators.github.store import changed_file, pull
from tests.faults.stage import Stage
from tests.helpers.records import digest_store
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import CHANNEL

PULLS = (101, 102, 103)
TEAM = "T0TEAM"
# what an asker reads while there is no answer
_NOTICES = (STILL_WORKING, NOT_POSTED_YET, "Looking at ")


@dataclass(frozen=True)
class Request:
    """Something that a person asked for; ``most`` is how many answers may come of it.

    What only one person saw can't be looked for after a crash: there, two are better than none.
    """

    name: str
    delivery: Delivery
    most: int = 1

    @property
    def is_taken(self) -> bool:
        """Whether the bot has said yes: from then on it owes an answer."""
        return (self.delivery.ack.status, self.delivery.ack.text) == (200, "")


@dataclass
class Work:
    """One digest that is due, and what was asked beside it. All of it is about a repository of its own."""

    stage: Stage
    number: int
    requests: list[Request] = field(default_factory=list)
    due: datetime = field(init=False)

    def __post_init__(self) -> None:
        now = datetime.fromtimestamp(self.stage.clocks.now(), self.stage.zone)
        self.due = self.timing.find_first_from(now.date())

    @property
    def channel(self) -> str:
        return f"C0WORK{self.number}"

    @property
    def repository(self) -> Repository:
        return Repository("octo", f"part-{self.number}")

    @property
    def timing(self) -> Timing:
        return Timing(time(0, 30), self.stage.zone)

    @property
    def subscription(self) -> Subscription:
        return Subscription(self.channel, self.repository, self.timing, by="U0ADA")

    def prepare(self) -> None:
        """Merge pull requests yesterday, and subscribe a channel to them: its digest was due this morning."""
        stage = self.stage
        yesterday = self.due.astimezone(stage.zone).replace(hour=11) - timedelta(days=1)
        for number in PULLS:
            patch = f"@@ -1 +1,2 @@\n one\n+retries = {self.number}_{number}"
            files = (changed_file(f"engine/retry_{number}.py", patch=patch),)
            stage.site.world.github.add(str(self.repository), pull(number, merged_at=yesterday, files=files))
        stage.site.world.slack.add_channel(self.channel, self.channel.lower())
        StoredSubscriptions(stage.store).put(self.subscription)
        DueQueue(stage.store).put(NextDigest(self.subscription.id), self.due)

    def begin(self, thread: str | None = None) -> None:
        """Start a clock, which sees what is due, and ask; the question stands in ``thread`` if there is one."""
        self.stage.restart("clock")
        self.ask(thread)

    def ask(self, thread: str | None = None) -> None:
        """Ask for all that people ask for, at the same time; each of them asks once."""
        name = str(self.repository)
        people = [self.stage.site.person(self.stage.web, f"U0W{self.number}N{place}") for place in range(4)]
        ada, bob, cy, dee = people
        with ThreadPoolExecutor(len(people)) as pool:
            asked = [
                ("command", 1, pool.submit(ada.send_command, "/prsummary", f"{name}#101")),
                ("private command", 2, pool.submit(bob.send_command, "/prsummary", f"{name}#102 private")),
                ("list", 1, pool.submit(cy.send_command, "/prrisks", f"7d repo:{name}")),
                ("question", 1, pool.submit(dee.mention, f"Why was {name}#103 merged?", CHANNEL, thread)),
            ]
        self.requests += [Request(what, future.result(), most) for what, most, future in asked]

    def find_answers(self, request: Request) -> list[str]:
        """The texts of what came of a request: its answer, or why there is none; notices do not count."""
        payload, site = request.delivery.payload, self.stage.site
        user = payload.get("user_id") or payload["event"]["user"]
        others = [
            shown["text"]
            for shown in site.world.slack.ephemerals
            if shown["user"] == user and shown.get("response_url", "") != payload.get("response_url")
        ]
        texts = [*site.answers(request.delivery), *others]
        return [text for text in texts if not any(notice in text for notice in _NOTICES)]

    def redeliver(self) -> None:
        """Deliver again what was not acknowledged, as Slack does with messages; a command is never sent twice."""
        slack = self.stage.site.person(self.stage.web)
        for place, request in enumerate(self.requests):
            if request.delivery.kind == "events_api" and request.delivery.ack.status != 200:
                again = slack.redeliver(request.delivery)
                self.requests[place] = Request(request.name, again, request.most)

    @property
    def record(self) -> PostedDigest:
        spec = self.subscription.build_digest_spec(self.due)
        return digest_store(self.stage.store).load(spec.build_key(TEAM))

    @property
    def is_posted(self) -> bool:
        """Whether the digest is done, and nothing in it is missing."""
        record = self.record
        return bool(record.spec_json) and not record.gaps

    @property
    def first_answer(self) -> str:
        """The message that answers the first command, under which people ask on."""
        trace = self.requests[0].delivery.payload["trigger_id"]
        messages = self.stage.site.world.slack.get_channel(CHANNEL).messages
        return next(str(message["ts"]) for message in messages if f":{trace}:" in str(message.get("metadata")))

    def has_answers(self) -> bool:
        return all(self.find_answers(each) for each in self.requests if each.is_taken)
