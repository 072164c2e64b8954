"""Zorarpacı 2019: rules by bees on perturbed records (`rules`), and 1R and naive Bayes by noisy counts (`private`)."""
