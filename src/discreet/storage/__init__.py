"""Files of ours: written whole, read in one way."""
