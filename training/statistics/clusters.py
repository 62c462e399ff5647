"""How sure a figure is whose cases come in clusters: trials of one task resemble one another.

The figure's variance is found by leaving out one cluster after another, and judged by Student's
distribution with a degree of freedom less than there are clusters: CV3 of MacKinnon, Nielsen and
Webb, Journal of Applied Econometrics 38 (2023), 671–694. A mean has that interval as it is. A
share has the interval of as many independent cases as it is worth: its cases over the design
effect, which is that variance over the one found by leaving out single cases (Rao and Scott,
Biometrics 48 (1992), 577–585), times the square of the ratio of Student's quantiles for cases and
clusters (Korn and Graubard, Survey Methodology 24 (1998), 193–201).

Where no two cases share a cluster this is Student's interval of a mean, and of a share Wilson's or
Newcombe's. Of fewer than three clusters nobody can say how much clusters differ: bounds are
infinite then.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

from training.statistics.proportions import Interval, paired_difference, wilson
from training.statistics.student import student_quantile

CLUSTERS_MIN = 3
Clusters = Sequence[Hashable]
"""Of each case, the cluster that it is in."""


def clustered_mean(values: Sequence[float], clusters: Clusters) -> Interval:
    """Interval of a mean over cases.

    Args:
        values: of the cases, at least one.
        clusters: of the same.
    """
    mean = math.fsum(values) / len(values)
    count = len(set(clusters))
    if count < CLUSTERS_MIN:
        return unknown(mean)
    error = math.sqrt(left_out_variance(mean, _means_without(values, clusters)))
    half = student_quantile(count - 1) * error
    return Interval(mean, mean - half, mean + half)


def clustered_share(won: Sequence[bool], clusters: Clusters) -> Interval:
    """Interval of the share of cases that are won.

    Args:
        won: at least one case.
        clusters: of the cases.
    """
    return share_of(sum(won) / len(won), _worth_of([float(one) for one in won], clusters))


def clustered_gain(before: Sequence[bool], after: Sequence[bool], clusters: Clusters) -> Interval:
    """Interval of the share won after less the share won before, of the same cases.

    Args:
        before: at least one case.
        after: the same cases.
        clusters: of the cases.
    """
    cases = list(zip(before, after, strict=True))
    counts = [cases.count(one) for one in ((True, True), (False, True), (True, False))]
    worth = _worth_of([float(after) - float(before) for before, after in cases], clusters)
    return gain_of(*(count / len(cases) for count in counts), worth=worth)


def share_of(share: float, worth: float) -> Interval:
    """Interval of a share that so many independent cases would have."""
    return wilson(share * worth, worth) if worth else unknown(share)


def gain_of(both: float, second_only: float, first_only: float, *, worth: float) -> Interval:
    """Interval of the second share less the first, of as many independent cases.

    Args:
        both: share of cases that both win.
        second_only: that only the second wins.
        first_only: that only the first wins.
        worth: independent cases; 0 where that cannot be known.
    """
    if not worth:
        return unknown(second_only - first_only)
    neither = max(0.0, 1 - both - second_only - first_only)
    return paired_difference(*(worth * one for one in (both, second_only, first_only, neither)))


def worth_in_cases(cases: int, clusters: int, *, alone: float, together: float) -> float:
    """How many independent cases those are worth; 0 where that cannot be known.

    Where the cases are all alike the figure has no variance that would tell; those of a cluster
    count for one then.

    Args:
        cases: as many independent ones are they at most.
        clusters: that they are in.
        alone: variance of the figure, found by leaving out single cases.
        together: the same by leaving out clusters.
    """
    if clusters < CLUSTERS_MIN:
        return 0.0
    effect = max(1.0, together / alone if alone > 0 else cases / clusters)
    ratio = student_quantile(cases - 1) / student_quantile(clusters - 1)
    return cases / effect * ratio**2


def left_out_variance(figure: float, without: Sequence[float]) -> float:
    """Variance of a figure.

    Args:
        figure: of all parts.
        without: the same without each of the parts.
    """
    squares = math.fsum((one - figure) ** 2 for one in without)
    return (len(without) - 1) / len(without) * squares


def unknown(value: float) -> Interval:
    """An estimate of which nobody can say how far it is off."""
    return Interval(value, -math.inf, math.inf)


def _worth_of(values: Sequence[float], clusters: Clusters) -> float:
    mean, count = math.fsum(values) / len(values), len(set(clusters))
    if count < CLUSTERS_MIN:
        return 0.0
    return worth_in_cases(
        len(values),
        count,
        alone=left_out_variance(mean, _means_without(values, range(len(values)))),
        together=left_out_variance(mean, _means_without(values, clusters)),
    )


def _means_without(values: Sequence[float], clusters: Clusters) -> list[float]:
    """The mean without each of the clusters, of which there are at least two."""
    parts: defaultdict[Hashable, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        parts[cluster].append(value)
    total = math.fsum(values)
    return [(total - math.fsum(some)) / (len(values) - len(some)) for some in parts.values()]
