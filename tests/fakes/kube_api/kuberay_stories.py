"""What may become of a RayJob, each told in the order in which KubeRay lives it.

A story yields how long it waits: seconds, or a question that is asked until it is answered yes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fakes.kube_api.cluster_events import tell
from fakes.kube_api.kuberay_play import KubeRayPlay
from fakes.kube_api.refusals import Refused

Pause = float | Callable[[], bool]
Story = Callable[[KubeRayPlay], Iterator[Pause]]
STATUS_CHECK_S = 300
"""`RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS`: how long the dashboard may be unreachable."""


def _never() -> bool:
    return False


def _begin(play: KubeRayPlay) -> Iterator[Pause]:
    play.initialise()
    yield play.prepared
    play.start_pods()
    yield 0
    play.submit()


def healthy(play: KubeRayPlay) -> Iterator[Pause]:
    """Pods come, the job runs, and ends as its work says."""
    yield from _begin(play)
    yield lambda: play.work.outcome() is not None
    play.finish(str(play.work.outcome()))


def stopped(play: KubeRayPlay) -> Iterator[Pause]:
    """Someone stops the Ray job by the dashboard: Complete, but no success."""
    yield from _begin(play)
    yield 0
    play.work.stop()
    play.finish("STOPPED")


def image_pull_error(play: KubeRayPlay) -> Iterator[Pause]:
    """The head's image is not there; KubeRay waits for ever."""
    play.initialise()
    yield play.prepared
    for pod in play.cluster_pods:
        play.pods.cannot_pull(play.pods.schedule(pod), "ErrImagePull")
    yield 1
    for pod in play.cluster_pods:
        play.pods.cannot_pull(pod)
    yield _never


def unschedulable(play: KubeRayPlay) -> Iterator[Pause]:
    """No node has what the workers ask for; the head runs and waits."""
    play.initialise()
    yield play.prepared
    head, *workers = play.cluster_pods
    for pod in workers or [head]:
        limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
        lacking = next((name for name in limits if "/" in name), "cpu")
        play.pods.cannot_schedule(
            pod,
            f"0/4 nodes are available: 4 Insufficient {lacking}. preemption: 0/4 nodes are "
            "available: 4 No preemption victims found for incoming pod.",
        )
    if workers:
        play.pods.run(play.pods.schedule(head))
    yield _never


def out_of_memory(play: KubeRayPlay) -> Iterator[Pause]:
    """A pod's container is killed for its memory, and the job fails with it."""
    yield from _begin(play)
    yield 0
    play.work.stop()
    play.say(
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory"
    )
    play.pods.end(play.cluster_pods[-1], 137, "OOMKilled")
    play.finish("FAILED")


def head_lost(*, after_s: float = 0, noticed_after_s: float | None = STATUS_CHECK_S) -> Story:
    """The head's node goes, and Ray's word stays RUNNING for ever after.

    KubeRay gives up after a while, or, with None, takes RUNNING for an answer.
    """

    def story(play: KubeRayPlay) -> Iterator[Pause]:
        yield from _begin(play)
        yield after_s
        play.work.stop()
        _lose_head(play)
        yield _never if noticed_after_s is None else noticed_after_s
        play.give_up("JobStatusCheckTimeoutExceeded", "Job status check timeout exceeded")

    return story


def deleted_by_hand(play: KubeRayPlay) -> Iterator[Pause]:
    """Someone deletes the RayJob while it runs."""
    yield from _begin(play)
    yield 0
    metadata = play.job["metadata"]
    play.store.delete(play.store.kinds.of("rayjobs"), metadata["name"], play.namespace)


def submission_failed(play: KubeRayPlay) -> Iterator[Pause]:
    """The submitter used up its tries."""
    play.initialise()
    yield play.prepared
    play.start_pods()
    play.give_up("SubmissionFailed", "Job submission has failed. Reason: BackoffLimitExceeded.")


def not_valid(play: KubeRayPlay) -> Iterator[Pause]:
    """An operator of another version does not like the RayJob's form."""
    play.tell(
        jobDeploymentStatus="ValidationFailed",
        reason="ValidationFailed",
        message="the RayJob spec is invalid: this operator knows no submitterConfig",
    )
    yield _never


def after(seconds: float, story: Story) -> Story:
    """The story, begun so much later: the operator was busy."""

    def delayed(play: KubeRayPlay) -> Iterator[Pause]:
        yield seconds
        yield from story(play)

    return delayed


def _lose_head(play: KubeRayPlay) -> None:
    head = play.head
    tell(
        play.store,
        head,
        "NodeNotReady",
        "Node is not ready",
        warning=True,
        by="node-controller",
    )
    try:
        play.store.delete(play.store.kinds.of("pods"), head["metadata"]["name"], play.namespace)
    except Refused:
        return
