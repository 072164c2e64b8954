"""What was published: noisy answers with their receipt."""
