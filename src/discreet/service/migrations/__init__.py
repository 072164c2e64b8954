"""Steps that bring the tables of the service up to date, in order."""
