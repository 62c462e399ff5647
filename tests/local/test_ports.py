"""Ports stay the same, but for those of Ray that another program took."""

import socket
from dataclasses import asdict
from pathlib import Path

from relay.local.places import LocalPlaces
from relay.local.ports import free_for_ray, ports_of


def test_ports_stay_as_they_were_chosen(tmp_path: Path) -> None:
    places = LocalPlaces(tmp_path)
    assert ports_of(places) == free_for_ray(places) == ports_of(places)


def test_a_port_of_ray_that_is_taken_is_replaced_and_the_deployed_one_stays(tmp_path: Path) -> None:
    places = LocalPlaces(tmp_path)
    before = ports_of(places)
    with socket.socket() as other:
        other.bind(("127.0.0.1", before.ray_dashboard))
        other.listen()
        after = free_for_ray(places)
        assert after.ray_dashboard != before.ray_dashboard
    assert after.emulator == before.emulator
    assert len(set(asdict(after).values())) == len(asdict(after))
    assert ports_of(places) == after
