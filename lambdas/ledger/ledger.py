"""The ledger as a whole."""

from __future__ import annotations

from lambdas.ledger.attempts import Attempts
from lambdas.ledger.drops import Drops
from lambdas.ledger.pipelines import Pipelines
from lambdas.ledger.policies import Policies
from lambdas.ledger.repairs import Repairs
from lambdas.ledger.runs import Runs
from lambdas.ledger.sets import Sets
from lambdas.ledger.table import Table
from lambdas.ledger.telling import Telling


class Ledger:
    """One table, eight kinds of entries."""

    def __init__(self, table: Table) -> None:
        self.drops = Drops(table)
        self.sets = Sets(table)
        self.runs = Runs(table)
        self.attempts = Attempts(table)
        self.telling = Telling(table)
        self.pipelines = Pipelines(table)
        self.policies = Policies(table)
        self.repairs = Repairs(table)
