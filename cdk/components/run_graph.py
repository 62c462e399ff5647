"""The graph of a run: what follows what, in the words that an operator sees."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.components.run_states import RunStates
from contracts.decision import EndAnswer, PlanAnswer, StepAnswer

_CARRIED = {"run.$": "$.run", "pipeline.$": "$.pipeline", "plan.$": "$.plan"}
"""What outlives a round; its outputs do not."""


def run_graph(
    scope: Construct, gather: Duration, submit: lambda_.IFunction, decide: lambda_.IFunction
) -> sfn.IChainable:
    """Build the graph.

    Args:
        scope: where its states live.
        gather: how long to wait for the rest of a burst.
        submit: starts a phase's job, given a task token.
        decide: plans, judges, publishes.
    """
    states = RunStates(scope, submit, decide, _failed(scope))
    keep = _keep(scope, states)
    gathered = sfn.Wait(
        scope,
        "Gather drops",
        time=sfn.WaitTime.duration(gather),
        comment="Wait for the rest of a burst, so that it makes one run",
    )
    plan = states.ask(
        "Plan run",
        "plan",
        PlanAnswer,
        into="$.plan",
        comment="Decide once what the run is: its drops, its recipe, the policy it starts from",
    )
    start = _begin_round(
        scope,
        "Start round",
        number="$.plan.round",
        inputs={},
        comment="The first round starts from the current policy",
    )
    anything = sfn.Choice(
        scope, "Anything to do?", comment="Another run may have taken all drops that were waiting"
    )
    anything.when(sfn.Condition.string_equals("$.plan.outcome", "nothing_waiting"), keep)
    anything.otherwise(start)
    start.next(_phases(scope, states, keep))
    return gathered.next(plan).next(anything)


def _phases(scope: Construct, states: RunStates, keep: sfn.IChainable) -> sfn.IChainable:
    collect = states.run_job(
        "Collect rollouts",
        "collect",
        inputs="$.inputs",
        comment="Read and check the run's drops; make episodes of what is usable",
    )
    usable = sfn.Choice(scope, "Usable data?", comment="Nothing is trained on nothing")
    optimize = states.run_job(
        "Optimize policy",
        "optimize",
        inputs={"collect.$": "$.collect"},
        comment="Train the policy on the episodes",
    )
    evaluate = states.run_job(
        "Evaluate policy",
        "evaluate",
        inputs={"collect.$": "$.collect", "optimize.$": "$.optimize"},
        comment="Measure the policy against the one that the run started from",
    )
    usable.when(sfn.Condition.string_equals("$.collect.outcome", "no_data"), keep)
    usable.otherwise(optimize)
    optimize.next(evaluate).next(_decide(scope, states, keep, collect))
    return collect.next(usable)


def _decide(
    scope: Construct, states: RunStates, keep: sfn.IChainable, first: sfn.IChainable
) -> sfn.IChainable:
    decide = states.ask(
        "Decide",
        "next",
        StepAnswer,
        into="$.decision",
        comment="Go on with another round, or judge the policy by the plan's gate",
    )
    again = _begin_round(
        scope,
        "Next round",
        number="$.decision.round",
        inputs={"optimize.$": "$.optimize"},
        comment="The next round starts from this round's policy",
    )
    again.next(first)
    what = sfn.Choice(scope, "What next?", comment="As decided; the reason is at $.decision")
    what.when(sfn.Condition.string_equals("$.decision.next", "publish"), _publish(scope, states))
    what.when(sfn.Condition.string_equals("$.decision.next", "next_round"), again)
    what.otherwise(keep)
    return decide.next(what)


def _publish(scope: Construct, states: RunStates) -> sfn.IChainable:
    publish = states.ask(
        "Publish policy",
        "publish",
        EndAnswer,
        into="$.end",
        comment="Verify the exported policy, write its version, make it current",
    )
    return publish.next(
        sfn.Succeed(scope, "Policy published", comment="The pipeline has a new current policy")
    )


def _keep(scope: Construct, states: RunStates) -> sfn.IChainable:
    keep = states.ask(
        "Keep current policy",
        "keep",
        EndAnswer,
        into="$.end",
        comment="Record why: nothing was waiting, no data was usable, or the gate was not passed",
    )
    return keep.next(
        sfn.Succeed(scope, "Policy kept", comment="The current policy stays; $.end says why")
    )


def _begin_round(
    scope: Construct, name: str, *, number: str, inputs: dict[str, str], comment: str
) -> sfn.Pass:
    return sfn.Pass(
        scope,
        name,
        comment=comment,
        parameters={**_CARRIED, "round.$": number, "inputs": inputs},
    )


def _failed(scope: Construct) -> sfn.Fail:
    return sfn.Fail(
        scope,
        "Run failed",
        comment="The error says what went wrong, its cause where and what to do",
        error_path="$.failure.Error",
        cause_path="$.failure.Cause",
    )
