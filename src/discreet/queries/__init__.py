"""What can be asked about records, and how much one record can change the answer."""
