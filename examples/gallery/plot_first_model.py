"""
A first model
=============

From a table to a model that can be handed out: declare what is public, choose ε, fit, read what is promised.
"""

# %%
# The table is public here, so that everybody can run this page. Its schema states what is known without looking at the
# data: bounds, categories, classes, and roughly how many records there are.

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from discreet import Auto, Ledger, datasets

X, y, schema = datasets.load("breast-cancer")
X_train, X_test, y_train, y_test = train_test_split(pd.DataFrame(X), y, test_size=0.3, random_state=0)
print(schema.target, schema.classes, len(schema.columns), "columns")

# %%
# A ledger holds the most that may ever be spent on these records. The fit is charged before a record is read.
# ``random_state`` makes this page repeatable, and voids the guarantee: leave it out on private data.

ledger = Ledger(2)
model = Auto(schema, epsilon=1, random_state=0).fit(X_train, y_train, ledger=ledger)
print(model.guarantee_.statement())
print("spent:", ledger.spent, "of", ledger.limit)

# %%
# What was picked and why, and how the model decides:

print(model.explain())

# %%
# How good is it? These test records are public, so the plain accuracy may be shown; for private ones use
# :func:`discreet.evaluate`.

print("accuracy:", round(float(np.mean(model.predict(X_test) == y_test)), 3))
figure = model.plot()
