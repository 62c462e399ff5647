"""Whatever is delivered, lost, repeated or crashed, in whatever order: the invariants hold."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any, Literal

from fakes.agent import Ending
from fakes.faults import Crash
from fakes.invariants import Invariants, accepted_or_refused, ledger_without_cursors
from fakes.recipes import pipeline
from fakes.world import World, using
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts.errors import RunNotOpen
from lambdas.logic.retry_run import retry_run

ATTEMPTS = 2
PIPELINES = ("tone", "facts")
ENDINGS: tuple[Ending, ...] = ("succeeded", "no_data", "kept", "JobFailed", "JobCrashed")
WHEN = st.sampled_from(["before", "after"])
SELDOM = st.sampled_from([False, False, False, True])


class ControlPlaneUnderFaults(RuleBasedStateMachine):
    """Teams, services, agent and operator act; any function may crash at any call."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.stack = ExitStack()
        self.stack.enter_context(using(self.world.plane))
        for name in PIPELINES:
            rounds = 2 if name == "facts" else 1
            self.world.register(
                pipeline(
                    name,
                    rounds=rounds,
                    attempts=ATTEMPTS,
                    heartbeat_s=120,
                    timeout_s=1800,
                    start_limit_s=600,
                )
            )
        self.demands = Invariants(self.world, ATTEMPTS)
        self.uploads: dict[tuple[str, str], str] = {}

    # Teams

    @rule(name=st.sampled_from(PIPELINES), fine=st.sampled_from([True, True, True, False]))
    def upload(self, name: str, fine: bool) -> None:
        key = f"incoming/{name}/drop {len(self.uploads)}.jsonl"
        version = self.world.upload(key, b'{"a": 1}\n' if fine else b"no json")
        self.uploads[(key, version)] = name

    # The line as it should be, so that faults meet runs at every stage

    @initialize(names=st.lists(st.sampled_from(PIPELINES), min_size=1, max_size=2))
    def begin(self, names: list[str]) -> None:
        for name in names:
            self.upload(name, fine=True)
        self.world.deliver_all()

    @rule(turns=st.integers(1, 8), finishes=st.booleans())
    def the_line_moves_on(self, turns: int, finishes: bool) -> None:
        for turn in range(turns):
            self.world.move_on(finishes=finishes or turn < turns - 1)

    @rule(name=st.sampled_from(PIPELINES), turns=st.integers(6, 14))
    def a_drop_goes_far(self, name: str, turns: int) -> None:
        self.upload(name, fine=True)
        for _ in range(turns):
            self.world.move_on(finishes=True)

    # Queues: at least once, in any order, with crashes

    @precondition(lambda self: self.world.mail)
    @rule(data=st.data(), again=st.booleans(), crash=st.integers(0, 12), when=WHEN)
    def deliver(self, data: st.DataObject, again: bool, crash: int, when: Any) -> None:
        place = data.draw(st.integers(0, len(self.world.mail) - 1))
        queue, body = self.world.mail.pop(place)
        self._arm(crash, when)
        taken = self.world.hand_over(queue, body)
        self.world.faults.disarm()
        if again or not taken:
            self.world.mail.append((queue, body))

    @precondition(lambda self: self.world.told)
    @rule(data=st.data())
    def deliver_an_old_message_again(self, data: st.DataObject) -> None:
        self.world.hand_over(*data.draw(st.sampled_from(self.world.told)))

    @precondition(lambda self: any(queue == "reports" for queue, _ in self.world.mail))
    @rule(data=st.data())
    def lose_a_report(self, data: st.DataObject) -> None:
        reports = [item for item in self.world.mail if item[0] == "reports"]
        self.world.mail.remove(data.draw(st.sampled_from(reports)))

    # Time, sweep, Step Functions

    @rule(seconds=st.sampled_from([5, 30, 61, 61, 61, 130, 130, 700, 2000]))
    def time_passes(self, seconds: int) -> None:
        self.world.clock.advance(seconds)
        self.world.agent.meet_deadlines()

    @rule(crash=st.integers(0, 25), when=WHEN)
    def sweep(self, crash: int, when: Any) -> None:
        self._arm(crash, when)
        try:
            self.world.sweep()
        except Crash:
            pass
        finally:
            self.world.faults.disarm()

    @precondition(lambda self: self.world.graph.running())
    @rule(data=st.data(), crash=st.integers(0, 20), when=WHEN, steps=st.integers(1, 4))
    def step(self, data: st.DataObject, crash: int, when: Any, steps: int) -> None:
        run = data.draw(st.sampled_from(self.world.graph.running()))
        self._arm(crash, when)
        for _ in range(steps):
            self.world.graph.step(run)
        self.world.faults.disarm()
        self.world.tell_ends()

    # Agent and jobs

    @rule(bells=st.integers(1, 3))
    def answer_bells(self, bells: int) -> None:
        for _ in range(bells):
            self.world.agent.answer_bell()

    @precondition(lambda self: self.world.agent.jobs)
    @rule(data=st.data())
    def report_progress(self, data: st.DataObject) -> None:
        self.world.agent.report_progress(self._any_job(data))

    @precondition(lambda self: self.world.agent.jobs)
    @rule(data=st.data(), ending=st.sampled_from(("succeeded", *ENDINGS)))
    def finish_a_job(self, data: st.DataObject, ending: Ending) -> None:
        self.world.agent.finish(self._any_job(data), ending)

    @precondition(lambda self: self.world.agent.jobs)
    @rule(data=st.data())
    def look_at_a_job(self, data: st.DataObject) -> None:
        self.world.agent.look(self._any_job(data))

    @precondition(lambda self: self.world.agent.jobs)
    @rule(data=st.data(), silent=st.booleans())
    def kill_a_job(self, data: st.DataObject, silent: bool) -> None:
        self.world.agent.kill_job(self._any_job(data), silent=silent)

    @rule()
    def agent_dies_or_comes_back(self) -> None:
        if self.world.agent.alive:
            self.world.agent.alive = False
        else:
            self.world.agent.restart()

    # Operator

    @precondition(lambda self: self.world.graph.running())
    @rule(data=st.data(), really=SELDOM)
    def cancel(self, data: st.DataObject, really: bool) -> None:
        if not really:
            return
        self.world.graph.abort(data.draw(st.sampled_from(self.world.graph.running())))
        self.world.tell_ends()

    @precondition(lambda self: self.world.executions.states)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(sorted(self.world.executions.states)))
        with suppress(RunNotOpen):
            retry_run(run, self.world.plane)

    @rule(name=st.sampled_from(PIPELINES))
    def resume(self, name: str) -> None:
        self.world.ledger.pipelines.resume(name)

    # What holds

    @invariant()
    def invariants_hold(self) -> None:
        self.demands.hold()

    def teardown(self) -> None:
        try:
            self.world.come_to_rest()
            self.demands.hold_at_rest()
            accepted_or_refused(self.world, self.uploads)
            before = ledger_without_cursors(self.world)
            for queue, body in list(self.world.told):
                assert self.world.hand_over(queue, body)
            assert ledger_without_cursors(self.world) == before, "I5: a replay changed the ledger"
        finally:
            self.stack.close()

    def _arm(self, crash: int, when: Literal["before", "after"]) -> None:
        if crash:
            self.world.faults.arm(crash, when)

    def _any_job(self, data: st.DataObject) -> Any:
        return data.draw(st.sampled_from(sorted(self.world.agent.jobs)))


def test_the_invariants_hold_in_any_order_of_faults() -> None:
    long = settings.get_current_profile_name() == "long"
    run_state_machine_as_test(
        ControlPlaneUnderFaults,
        settings=settings(max_examples=2_000 if long else 120, stateful_step_count=40),
    )
