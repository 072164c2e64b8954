"""What was published: noisy answers with their receipts."""
