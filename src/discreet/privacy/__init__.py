"""The account and the dice: budgets, receipts, guarantees, mechanisms and their randomness."""
