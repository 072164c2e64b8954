"""What may be asked of the records, and how much one record can change the answer."""
