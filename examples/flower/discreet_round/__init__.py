"""A round of discreet as a Flower app."""
