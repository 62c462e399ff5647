"""Where the local stack keeps things: one folder, and a short one for Ray's sockets."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


def default_root(checkout: Path | None = None) -> Path:
    """The state folder of a checkout, by default the current one."""
    return (checkout or Path.cwd()) / ".relay" / "local"


@dataclass(frozen=True)
class LocalPlaces:
    """Every file of one local stack, named."""

    root: Path

    @property
    def state(self) -> Path:
        """What the embedded AWS remembers, a JSON file a service."""
        return self.root / "state"

    @property
    def objects(self) -> Path:
        """The bodies of objects in buckets."""
        return self.root / "objects"

    @property
    def scratch(self) -> Path:
        """Unpacked functions and other things worth nothing once the emulator is gone."""
        return self.root / "scratch"

    @property
    def temporary(self) -> Path:
        """Temporary files of all other processes but Ray's."""
        return self.root / "temporary"

    @property
    def certificate(self) -> Path:
        """The self-signed certificate that clients trust."""
        return self.root / "tls" / "certificate.pem"

    @property
    def private_key(self) -> Path:
        """The certificate's key, readable by its owner only."""
        return self.root / "tls" / "private-key.pem"

    @property
    def used_rights(self) -> Path:
        """Which actions roles were allowed; only ever appended to."""
        return self.root / "used-rights.jsonl"

    @property
    def logs(self) -> Path:
        """A log file a process, plus those of the CDK CLI."""
        return self.root / "logs"

    @property
    def processes(self) -> Path:
        """Which processes were started, so that only those are ever stopped."""
        return self.root / "processes.json"

    @property
    def ports(self) -> Path:
        """The ports chosen at the first start; addresses in the stack depend on them."""
        return self.root / "ports.json"

    @property
    def lock(self) -> Path:
        """Held while the stack is brought up or down."""
        return self.root / "lock"

    @property
    def workspace(self) -> Path:
        """What stands in for the shared file system."""
        return self.root / "workspace"

    @property
    def assembly(self) -> Path:
        """The synthesised app (`cdk.out`)."""
        return self.root / "cdk.out"

    @property
    def deployed(self) -> Path:
        """What was last deployed here: digest of its sources, and the outputs."""
        return self.root / "deployed.json"

    @property
    def ray(self) -> Path:
        """Ray's folder: short and outside, for a socket's path may have 107 bytes at most.

        It is the same for every process, whatever folder each has for its temporary files.
        """
        name = f"{os.getuid()}:{self.root.resolve()}".encode()
        return Path("/tmp") / f"relay-{hashlib.sha256(name).hexdigest()[:10]}"  # noqa: S108

    def log(self, name: str) -> Path:
        """The log file of one process."""
        return self.logs / f"{name}.log"

    def make(self) -> None:
        """Create the folders, closed to other users."""
        for folder in (
            self.root,
            self.state,
            self.objects,
            self.scratch,
            self.temporary,
            self.logs,
        ):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.certificate.parent.mkdir(mode=0o700, exist_ok=True)
        self.workspace.mkdir(mode=0o700, exist_ok=True)
