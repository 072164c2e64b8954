"""Zafarani and Clifton 2020: naive Bayes by smooth sensitivity, on four data sets and at the size of a census."""
