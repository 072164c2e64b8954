"""A round of discreet in Flower's simulation: all parties on one machine."""
