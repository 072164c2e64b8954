"""
What accuracy costs
===================

The same model at several ε, on public data: how accuracy grows with ε, and how far draws of the noise spread.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from discreet import NaiveBayes, datasets

X, y, schema = datasets.load("wine")
X_train, X_test, y_train, y_test = train_test_split(pd.DataFrame(X), y, test_size=0.4, random_state=0)

# %%
# Ten draws of the noise at each ε. On private data every one of these fits would be charged.

epsilons = [0.1, 0.3, 1, 3, 10]
scores = [
    [
        NaiveBayes(schema, epsilon=epsilon, random_state=draw).fit(X_train, y_train).score(X_test, y_test)
        for draw in range(10)
    ]
    for epsilon in epsilons
]
clear = NaiveBayes(schema, epsilon=float("inf")).fit(X_train, y_train).score(X_test, y_test)

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(epsilons, np.mean(scores, axis=1), marker="o")
axes.fill_between(
    epsilons, np.min(scores, axis=1), np.max(scores, axis=1), alpha=0.2, label="least and most of ten draws"
)
axes.axhline(clear, color="grey", linestyle=":", label="without noise")
axes.set(xscale="log", xlabel="ε", ylabel="accuracy", title="Naive Bayes on wine, 106 records")
axes.legend()
