"""Steps of the accounts' tables, oldest first."""
