"""The history of the accounts' tables, one file for each step."""
