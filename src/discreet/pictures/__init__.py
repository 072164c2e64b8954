"""Figures, colours and marks that all pictures share."""
