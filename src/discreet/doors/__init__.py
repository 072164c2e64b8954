"""The only ways from the data to what is published. Each stands on the passage, which checks, charges and opens."""
