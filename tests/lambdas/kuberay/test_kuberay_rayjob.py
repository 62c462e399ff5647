"""The RayJob of an attempt: KubeRay's schema takes it, and it says what a job needs."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from fakes.clock import START
from fakes.kube_api.schema import check, unknown
from kuberay.conftest import RUN, job_spec, settings

from contracts.errors import PipelineInvalid
from contracts.hardware import Hardware
from contracts.names import Phase, attempt_key
from lambdas.adapters.kuberay.labels import attempt_labels, key_from
from lambdas.adapters.kuberay.rayjob import DEADLINE_GRACE_S, rayjob, spec_digest
from lambdas.settings import Settings

CRDS = Path(__file__).parents[4] / "shared" / "crds"
GPU = Hardware.model_validate(
    {
        "cpus": 8,
        "gpus": 8,
        "workers": [
            {"profile": "gpu", "count": 2, "resources": {"trainer": 1, "rollouts.v1": 0.5}},
            {"profile": "cpu", "count": 3},
        ],
    }
)
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


@cache
def schema() -> dict[str, Any]:
    path = CRDS / "ray.io_rayjobs.yaml"
    if not path.exists():
        pytest.skip("the schemas are not here")
    crd = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    (version,) = [it for it in crd["spec"]["versions"] if it["name"] == "v1"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return found


def unknown_in(job: dict[str, Any]) -> list[str]:
    """Fields that a server would prune; `metadata` is of every object, not of the schema."""
    spec = json.loads(json.dumps(job["spec"]))
    return unknown(spec, schema()["properties"]["spec"])


def made(hardware: Hardware | None = None, **changes: str) -> dict[str, Any]:
    spec = job_spec(hardware=hardware or Hardware(cpus=4))
    return rayjob(spec, settings(**changes), START)


def templates(job: dict[str, Any]) -> list[dict[str, Any]]:
    cluster = job["spec"].get("rayClusterSpec")
    found = [job["spec"]["submitterPodTemplate"]]
    if cluster:
        found += [cluster["headGroupSpec"]["template"]]
        found += [group["template"] for group in cluster["workerGroupSpecs"]]
    return found


KINDS = pytest.mark.parametrize(
    ("hardware", "changes"),
    [
        (None, {}),
        (GPU, {}),
        (None, {"JOB_QUEUE_NAME": "", "JOB_PRIORITY_CLASS": ""}),
        (None, {"RAY_CLUSTER": "team-cluster"}),
        (None, {"HARDWARE_PROFILES": ""}),
    ],
    ids=["its own cluster", "GPU and CPU workers", "no queue", "a living cluster", "no profiles"],
)


@KINDS
def test_the_schema_takes_it_and_knows_every_field(
    hardware: Hardware | None, changes: dict[str, str]
) -> None:
    job = made(hardware, **changes)
    assert check(job, schema()) == []
    assert unknown_in(job) == []


def test_the_check_itself_finds_what_is_wrong() -> None:
    job = made()
    job["spec"]["backoffLimit"] = "none"
    job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containerz"] = []
    assert check(job, schema())
    assert unknown_in(job) == ["rayClusterSpec.headGroupSpec.template.spec.containerz"]


@KINDS
def test_labels_are_what_kubernetes_takes(
    hardware: Hardware | None, changes: dict[str, str]
) -> None:
    job = made(hardware, **changes)
    for metadata in (job["metadata"], *(it["metadata"] for it in templates(job))):
        for name, value in metadata["labels"].items():
            assert _LABEL.fullmatch(value), (name, value)
            assert _LABEL.fullmatch(name.rpartition("/")[2]), name


def test_its_name_is_the_attempts_and_ray_knows_it_by_the_same() -> None:
    job = made()
    assert job["metadata"]["name"] == job["spec"]["jobId"] == f"{RUN}-1-optimize-2"
    assert len(job["metadata"]["name"]) <= 47


def test_the_same_spec_has_the_same_digest_and_any_other_another() -> None:
    assert made()["metadata"]["annotations"] == {"relay/spec-digest": spec_digest(job_spec())}
    assert spec_digest(job_spec(nonce="m" * 32)) != spec_digest(job_spec())


def test_the_labels_name_the_attempt() -> None:
    spec = job_spec()
    assert key_from(attempt_labels(spec)) == spec.key
    assert key_from({**attempt_labels(spec), "relay/phase": "other"}) is None
    assert key_from({**attempt_labels(spec), "relay/round": "0"}) is None
    assert key_from({}) is None


def test_retries_are_not_the_clusters_and_its_deadline_is_after_the_jobs_own() -> None:
    spec = made()["spec"]
    assert (spec["backoffLimit"], spec["submitterConfig"]) == (0, {"backoffLimit": 0})
    assert spec["activeDeadlineSeconds"] == 3600 + DEADLINE_GRACE_S
    late = rayjob(job_spec(), settings(), START + timedelta(hours=2))
    assert late["spec"]["activeDeadlineSeconds"] > 0


def test_the_cluster_goes_with_its_job() -> None:
    spec = made()["spec"]
    assert spec["shutdownAfterJobFinishes"] is True
    assert spec["ttlSecondsAfterFinished"] >= 180


def test_a_living_cluster_is_selected_and_nothing_said_that_is_illegal_then() -> None:
    job = made(RAY_CLUSTER="team-cluster")
    assert job["spec"]["clusterSelector"] == {"ray.io/cluster": "team-cluster"}
    illegal = {
        "rayClusterSpec",
        "shutdownAfterJobFinishes",
        "ttlSecondsAfterFinished",
        "suspend",
        "deletionStrategy",
    }
    assert not illegal & set(job["spec"])
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["submissionMode"] != "SidecarMode"
    assert not [name for name in job["metadata"]["labels"] if name.startswith("kueue")]


def test_kueue_reads_queue_and_priority_from_labels() -> None:
    labels = made()["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "hyperpod-ns-team-localqueue"
    assert labels["kueue.x-k8s.io/priority-class"] == "training-priority"
    without = made(JOB_QUEUE_NAME="", JOB_PRIORITY_CLASS="")["metadata"]["labels"]
    assert not [name for name in without if name.startswith("kueue")]


def test_no_work_is_done_on_the_head_and_its_dashboard_is_to_be_reached() -> None:
    head = made()["spec"]["rayClusterSpec"]["headGroupSpec"]
    assert head["rayStartParams"] == {"dashboard-host": "0.0.0.0", "num-cpus": "0"}
    resources = head["template"]["spec"]["containers"][0]["resources"]
    assert resources["limits"] == {"cpu": "2", "memory": "8Gi"}
    assert head["template"]["metadata"]["annotations"] == {"karpenter.sh/do-not-disrupt": "true"}


def test_worker_groups_are_the_pipelines_with_their_profiles() -> None:
    gpu, cpu = made(GPU)["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert [gpu["groupName"], gpu["replicas"], gpu["minReplicas"], gpu["maxReplicas"]] == [
        "gpu",
        2,
        2,
        2,
    ]
    pod = gpu["template"]["spec"]
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "8"
    assert pod["nodeSelector"]["node.kubernetes.io/instance-type"] == "ml.p5.48xlarge"
    assert pod["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert cpu["replicas"] == 3
    assert cpu["rayStartParams"] == {}
    assert "nvidia.com/gpu" not in str(cpu["template"])


def test_custom_resources_come_through_a_shell_as_json() -> None:
    import shlex

    (gpu, _) = made(GPU)["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    (argument,) = shlex.split(f"--resources={gpu['rayStartParams']['resources']}")
    offered = json.loads(argument.removeprefix("--resources="))
    assert offered == {"trainer": 1, "rollouts.v1": 0.5}


@pytest.mark.parametrize(
    ("hardware", "profile"),
    [
        (Hardware(cpus=1), "cpu"),
        (Hardware(cpus=15), "cpu"),
        (Hardware(cpus=16), "gpu"),
        (Hardware(cpus=1, gpus=0.5), "gpu"),
    ],
)
def test_without_groups_a_job_gets_one_pod_of_the_smallest_profile_that_has_room(
    hardware: Hardware, profile: str
) -> None:
    (group,) = made(hardware)["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (group["groupName"], group["replicas"]) == (profile, 1)


@pytest.mark.parametrize(("phase", "pods"), [("optimize", 3), ("collect", 1)])
def test_without_groups_each_learner_gets_a_pod_where_there_are_learners(
    phase: Phase, pods: int
) -> None:
    spec = job_spec(hardware=Hardware(cpus=1, learners=3), phase=phase)
    (group,) = rayjob(spec, settings(), START)["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (group["replicas"], group["maxReplicas"]) == (pods, pods)


@pytest.mark.parametrize(
    ("hardware", "says"),
    [
        ({"cpus": 4, "workers": [{"profile": "tpu"}]}, "names profile tpu.*has cpu, gpu"),
        ({"cpus": 91}, "91 CPUs and 0 GPUs on one node.*cpu 15 and 0, gpu 90 and 8"),
        ({"cpus": 4, "gpus": 1, "workers": [{"profile": "cpu"}]}, "offer cpu 15 and 0$"),
    ],
)
def test_hardware_that_is_not_there_is_refused(hardware: dict[str, Any], says: str) -> None:
    with pytest.raises(PipelineInvalid, match=says):
        made(Hardware.model_validate(hardware))


@pytest.mark.parametrize(
    ("workers", "says"),
    [
        ([{"profile": "cpu"}, {"profile": "cpu"}], "each profile once"),
        ([{"profile": "head"}], "profile head is the head's"),
        ([{"profile": "cpu", "count": 0}], "count"),
        ([{"profile": "cpu", "resources": {"x": 0}}], "resources"),
        ([{"profile": f"p{n}"} for n in range(17)], "16"),
    ],
)
def test_a_pipeline_with_impossible_workers_is_refused(workers: list[Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Hardware.model_validate({"workers": workers})


@KINDS
def test_every_pod_is_fit_for_a_restricted_namespace(
    hardware: Hardware | None, changes: dict[str, str]
) -> None:
    for template in templates(made(hardware, **changes)):
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["fsGroup"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"] == container["resources"]["limits"]
        assert not {"hostNetwork", "hostPID", "hostPath"} & set(str(pod).split("'"))


@KINDS
def test_every_pod_goes_to_a_healthy_node_and_stays(
    hardware: Hardware | None, changes: dict[str, str]
) -> None:
    for template in templates(made(hardware, **changes)):
        selector = template["spec"]["nodeSelector"]
        assert selector["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"
        assert template["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"


def test_ray_pods_have_the_shared_file_system_and_shared_memory() -> None:
    _, *ray_pods = templates(made(GPU))
    assert len(ray_pods) == 3
    for template in ray_pods:
        pod = template["spec"]
        assert pod["serviceAccountName"] == "relay-job"
        claims = [it.get("persistentVolumeClaim") for it in pod["volumes"]]
        assert {"claimName": "fsx"} in claims
        assert [it["emptyDir"]["medium"] for it in pod["volumes"] if "emptyDir" in it] == ["Memory"]
        places = {it["name"]: it["mountPath"] for it in pod["containers"][0]["volumeMounts"]}
        assert places == {"workspace": "/fsx/relay", "shared-memory": "/dev/shm"}


@KINDS
def test_nothing_in_it_speaks_for_the_job(
    hardware: Hardware | None, changes: dict[str, str]
) -> None:
    text = json.dumps(made(hardware, **changes))
    assert "n" * 32 not in text
    assert not re.search(r"(?i)nonce|secret|AKIA|aws_access|task.?token", text)


def test_its_entry_point_names_the_spec_by_address_only() -> None:
    place = f"s3://relay-tests/runs/{RUN}/1-optimize-2/job.json"
    assert made()["spec"]["entrypoint"] == f"exec python -m training --job {place}"


def test_any_attempt_has_a_name_that_kuberay_takes() -> None:
    longest = attempt_key(RUN, 99, "optimize", 99)
    assert re.fullmatch(r"[a-z]([-a-z0-9]{0,45}[a-z0-9])?", longest.job_name)


@pytest.mark.parametrize(
    "lacking", ["CLUSTER_NAME", "JOB_IMAGE", "FSX_CLAIM", "RAY_VERSION", "AWS_REGION"]
)
def test_settings_of_a_cluster_name_what_is_lacking(lacking: str) -> None:
    with pytest.raises(ValueError, match=f"kuberay needs {lacking}"):
        settings(**{lacking: ""})


def test_settings_of_a_queue_need_its_address_alone() -> None:
    told = {
        "BUCKET": "b",
        "LEDGER_TABLE": "t",
        "STATE_MACHINE_ARN": "arn",
        "WORKSPACE_ROOT": "/w",
        "PROGRESS_INTERVAL_S": "15",
        "RUNNER": "queue",
    }
    with pytest.raises(ValueError, match="queue needs JOB_QUEUE_URL"):
        Settings.read(told)
    assert Settings.read({**told, "JOB_QUEUE_URL": "https://sqs/q"}).runner == "queue"


@pytest.mark.parametrize(
    "profiles",
    ['{"cpu": {"cpu": 0, "memory": "1Gi"}}', '{"cpu": {"cpu": 1, "memory": "1G"}}', '["cpu"]', "{"],
)
def test_profiles_that_make_no_sense_are_refused(profiles: str) -> None:
    with pytest.raises(ValueError, match="hardware_profiles"):
        settings(HARDWARE_PROFILES=profiles)
