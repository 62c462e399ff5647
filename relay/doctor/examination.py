"""All rounds in their order: the control plane, then whatever runs its jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from pydantic import ValidationError

from contracts.model import describe
from lambdas.settings import Settings
from relay.doctor.checks import local
from relay.doctor.cluster_round import ClusterRound
from relay.doctor.control_plane_round import ControlPlaneRound
from relay.doctor.finding import Finding, unknown, wrong
from relay.doctor.reading import Aws, Kubernetes
from relay.local.stack import ProcessStatus

_ABOUT = "runner"


class Examination:
    """Everything that a stack needs.

    Attributes:
        stack: the control plane's name.
    """

    def __init__(
        self,
        aws: Aws,
        stack: str,
        *,
        region: str,
        now: Callable[[], datetime],
        connect: Callable[[str], Kubernetes],
        processes: Iterable[ProcessStatus] | None = None,
    ) -> None:
        """Look at one stack.

        Args:
            aws: answers for the account.
            stack: name of the control plane's.
            region: the stack's.
            now: the time.
            connect: makes the way to a cluster's API, by the cluster's name.
            processes: of the local stack; None when it isn't one.
        """
        self._aws = aws
        self.stack = stack
        self._region = region
        self._now = now
        self._connect = connect
        self._processes = processes

    def findings(self) -> Iterator[Finding]:
        """Look at everything; each finding as soon as it is there."""
        control = ControlPlaneRound(self._aws, self.stack, self._now)
        yield from control.findings()
        if not control.deployed:
            return
        if self._processes is not None:
            for one in self._processes:
                yield local.process(one.name, one.pid, one.answers, str(one.log))
            return
        yield from control.quotas()
        runner = control.settings.get("RUNNER", "")
        if runner == "kuberay":
            yield from self._cluster(control)
        else:
            yield _nobody_knows(runner)

    def _cluster(self, control: ControlPlaneRound) -> Iterator[Finding]:
        environment = {**control.settings, "AWS_REGION": self._region}
        try:
            settings = Settings.read(environment)
        except ValidationError as error:
            yield wrong(_ABOUT, describe(error), "`cdk deploy` with what is said to lack")
            return
        yield from ClusterRound(
            self._aws, settings, control.outputs, self.stack, self._connect
        ).findings()


def _nobody_knows(runner: str) -> Finding:
    if not runner:
        remedy = "mend what is said of function submit first"
        return unknown(_ABOUT, "its settings could not be read", remedy)
    remedy = "see that `python -m relay.agent` runs on the login node: queue Jobs must not fill up"
    return unknown(_ABOUT, "queue: whether an agent runs can't be seen from here", remedy)
