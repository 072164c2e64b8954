"""Tables whose every record was perturbed, and their receipts."""
