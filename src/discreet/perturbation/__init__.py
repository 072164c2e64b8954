"""Tables in which every record was perturbed, with the receipts that vouch for them."""
