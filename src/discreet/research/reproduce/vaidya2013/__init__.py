"""Vaidya et al. 2013: naive Bayes on five data sets, by epsilon and by the program's n."""
