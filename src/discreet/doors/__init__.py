"""The only way from private records to published answers: the passage, and what goes through it."""
