"""The file of jobs in flight outlives the agent."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from job_objects import job_spec

from contracts.errors import ContractBroken
from relay.agent.in_flight import Begun, InFlight

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_was_put_is_there_after_a_restart_under_the_same_agents_name(tmp_path: Path) -> None:
    path = tmp_path / "in-flight.json"
    first, begun = InFlight(path), Begun(spec=job_spec(), stage="claiming", since=NOW)
    first.put(begun)
    second = InFlight(path)
    assert second.agent == first.agent
    assert second.jobs() == {begun.spec.key.job_name: begun}


def test_a_job_is_one_entry_however_far_it_is_and_can_be_dropped(tmp_path: Path) -> None:
    path = tmp_path / "in-flight.json"
    kept, begun = InFlight(path), Begun(spec=job_spec(), stage="claiming", since=NOW)
    kept.put(begun)
    kept.put(begun.model_copy(update={"stage": "started"}))
    assert [one.stage for one in InFlight(path).jobs().values()] == ["started"]
    kept.drop(begun.spec.key.job_name)
    kept.drop("no such job")
    assert InFlight(path).jobs() == {}


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "in-flight.json"
    path.write_text('{"agent": "x", "jobs": {')
    with pytest.raises(ContractBroken, match=r"in-flight\.json"):
        InFlight(path)
