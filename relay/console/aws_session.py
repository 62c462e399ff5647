"""A session of the AWS SDK, in the region that the environment names."""

from __future__ import annotations

import os

import boto3


def aws_session(profile: str | None = None) -> boto3.Session:
    """A session; AWS_REGION counts first, as for the AWS CLI, the CDK and every SDK but boto3.

    Args:
        profile: a profile of the AWS configuration; None: the SDK's own choice.
    """
    return boto3.Session(profile_name=profile, region_name=os.environ.get("AWS_REGION") or None)
