"""The account (epsilon, ledger, receipt, guarantee) and the dice (randomness, mechanisms)."""
