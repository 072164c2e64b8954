"""The five papers as published, comparisons, reproductions and reports; nothing in the product depends on it."""
