"""The environment MiniStack runs in, and with it every function it starts."""

import os
import sys
from pathlib import Path

from relay.local.environment import ACCOUNT, REGION, no_proxy
from relay.local.places import LocalPlaces

RUNTIME_FOLDER = Path(__file__).parent / "runtime"
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")
_OFF = ("IOT_MTLS_ENABLED", "SFTP_ENABLED")


def server_environment(places: LocalPlaces, port: int) -> dict[str, str]:
    """Everything MiniStack needs to know, and nothing of the shell that started it.

    Functions inherit this environment, so no credential of the operator may be in it.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **inherited,
        "PYTHONPATH": str(RUNTIME_FOLDER),
        "TMPDIR": str(places.scratch),
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(places.certificate),
        "MINISTACK_SSL_KEY": str(places.private_key),
        "PERSIST_STATE": "1",
        "STATE_DIR": str(places.state),
        "S3_PERSIST": "1",
        "S3_DATA_DIR": str(places.objects),
        # Nothing may look for a container engine: functions run as processes.
        "DOCKER_HOST": f"unix://{places.scratch}/no-docker.sock",
        "AWS_ENDPOINT_URL": f"https://127.0.0.1:{port}",
        "AWS_CA_BUNDLE": str(places.certificate),
        "AWS_EC2_METADATA_DISABLED": "true",
        "PYTHONUNBUFFERED": "1",
        "PYTHONNOUSERSITE": "1",
        "VIRTUAL_ENV": sys.prefix,
        **no_proxy(),
        **dict.fromkeys(_OFF, "0"),
    }
