"""Marchioro et al. 2022: federated naive Bayes, by number of nodes and epsilon."""
