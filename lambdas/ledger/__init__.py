"""The ledger: one table, every change a conditional write."""
