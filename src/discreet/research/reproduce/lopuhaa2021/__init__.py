"""Lopuhaä-Zwakenberg et al. 2021: naive Bayes, SVM and tree on six data sets at ten epsilons."""
