"""Which jobs an agent takes from the queue, and which it leaves, refuses or never starts."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from job_objects import BUCKET, exit_of, job_spec, read, result_of, ring, stop, submit, waiting
from process_ray import ProcessRay

from contracts import layout
from contracts.job import Claim
from contracts.names import AttemptKey
from relay.agent import agent as agent_module
from relay.agent.agent import mark_of
from relay.agent.objects_s3 import S3Objects


def test_a_job_is_claimed_started_and_its_doorbell_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    claim = Claim.from_bytes(read(s3, layout.claim(spec.key)) or b"", where="claim")
    assert claim.agent == agent.in_flight.agent
    assert ray.look(spec.key.job_name).state == "RUNNING"
    assert ray.environments[spec.key.job_name] == {"MARK": "job"}
    assert waiting(queue) == 0
    assert agent.in_flight.jobs()[spec.key.job_name].stage == "started"


def test_the_real_command_is_the_training_entry_point_with_the_jobs_address() -> None:
    spec = job_spec()
    address = f"s3://{BUCKET}/{layout.job(spec.key)}"
    assert agent_module.command_of(spec) == [sys.executable, "-m", "training", "--job", address]
    assert mark_of(spec) in " ".join(agent_module.command_of(spec))


def test_a_second_ring_starts_nothing_and_is_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    agent.turn()
    ring(spec, queue)
    agent.turn()
    assert ray.starts == [spec.key.job_name]
    assert waiting(queue) == 0


def test_a_job_that_was_stopped_first_never_starts(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    stop(s3, spec)
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"
    assert result_of(s3, spec.key) is None
    assert waiting(queue) == 0


def test_a_stop_between_claim_and_start_keeps_the_job_from_starting(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, objects: S3Objects
) -> None:
    agent, spec = make_agent(), job_spec()
    submit(spec, s3, queue)
    claim = objects.put_claim

    def claim_then_stop(key: AttemptKey, record: Claim) -> bool:
        won = claim(key, record)
        stop(s3, spec)
        return won

    objects.put_claim = claim_then_stop  # type: ignore[method-assign]
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"


def test_a_job_past_its_deadline_is_refused(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec(deadline=datetime.now(UTC))
    submit(spec, s3, queue)
    agent.turn()
    end = exit_of(s3, spec.key)
    assert ray.starts == []
    assert end is not None
    assert end.how == "refused"


def test_a_job_that_another_agent_claimed_is_left_alone(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any, objects: S3Objects
) -> None:
    agent, spec = make_agent(), job_spec()
    objects.put_claim(spec.key, Claim(agent="another", at=datetime.now(UTC)))
    submit(spec, s3, queue)
    agent.turn()
    assert ray.starts == []
    assert exit_of(s3, spec.key) is None
    assert agent.in_flight.jobs() == {}
    assert waiting(queue) == 0


def test_a_doorbell_for_a_job_that_is_not_there_is_removed(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    ring(job_spec(), queue)
    agent.turn()
    assert waiting(queue) == 0
    assert agent.in_flight.jobs() == {}


def test_a_spec_at_another_jobs_place_is_not_run(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent, spec = make_agent(), job_spec()
    other = job_spec(attempt=2)
    s3.put_object(Bucket=BUCKET, Key=layout.job(spec.key), Body=other.to_bytes())
    ring(spec, queue)
    agent.turn()
    assert ray.starts == []


def test_a_message_that_names_no_job_is_left_to_the_dead_letter_queue(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    client, url = queue
    for body in ("not json", "[]", '{"job": 3}', "{}"):
        client.send_message(QueueUrl=url, MessageBody=body)
    make_agent().turn()
    assert waiting(queue) == 4


def test_there_are_never_more_jobs_than_there_is_room_for(
    make_agent: Any, ray: ProcessRay, s3: Any, queue: Any
) -> None:
    agent = make_agent()
    for attempt in range(1, 5):
        submit(job_spec(attempt=attempt), s3, queue)
    for _ in range(3):
        agent.turn()
    assert len(ray.starts) == 2
    assert waiting(queue) == 2
