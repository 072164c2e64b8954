"""
Counts with intervals
=====================

A table that answers count queries with noise until its budget is spent, and a model that is learned from its answers.
"""

import matplotlib.pyplot as plt

from discreet import CountDatabase, Ledger, OneRule, datasets

X, y, schema = datasets.load("breast-cancer")
database = CountDatabase({**X, schema.target: y}, schema, ledger=Ledger(2), random_state=0)

# %%
# One question: tumours by radius and diagnosis, for ε = 1/2. The interval of each count is known, because the law of
# the noise is public.

answer = database.count(by=[{"column": "mean_radius", "bins": 8}, "diagnosis"], epsilon="1/2")
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for position, name in enumerate(schema.classes):
    axes.errorbar(range(8), answer.counts[:, position], yerr=answer.half_width(), label=name, capsize=3, marker="o")
axes.set(xlabel="bin of mean_radius", ylabel="records", title="Noisy counts with 95 % intervals, ε = 1/2")
axes.legend()

# %%
# One-rule asks the same database, and never sees a row.

rule = OneRule(schema, epsilon=1).fit_from(database)
print(rule.explain())
print("left:", database.ledger.remaining)
