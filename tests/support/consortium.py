"""Parties that want the model to be wrong: range-feasible answers, made with full knowledge of everybody's tables."""

import numpy as np

from discreet import Categorical, Schema
from discreet.federated.message import Message
from discreet.federated.partition import partition
from discreet.federated.simulate import PublicTable, Setting, noise
from discreet.privacy.randomness import as_rng

PARTIES = 50


def town(rows=8000, columns=12, seed=0):
    """Columns, labels and schema of a made-up public table: twelve attributes that tell something about the class."""
    draw = np.random.default_rng(seed)
    labels = draw.random(rows) < 0.4
    shares = draw.dirichlet(np.ones(4), size=(columns, 2))
    X = {}
    for column, (first, second) in enumerate(shares):
        values = [draw.choice(4, rows, p=share) for share in (first, second)]
        X[f"a{column}"] = np.where(labels, values[1], values[0]).astype(str).astype(object)
    schema = Schema([Categorical(name, list("0123"), unlisted=False) for name in X], "y", ["no", "yes"], records=rows)
    return X, np.where(labels, "yes", "no").astype(object), schema


class Consortium:
    """Fifty parties' exact and noisy tables of a public data set, and who of them is hostile (30 %)."""

    def __init__(self, data, epsilon, repeat, sizes="equal", concentration=None, held_out=0.1):
        self.table = PublicTable(*data, held_out=held_out, most_tested=2000)
        self.invitation = self.table.invitation(Setting("local-noise", PARTIES, epsilon))
        rows, self.test = self.table.split(repeat)
        labels = np.asarray(data[1])[rows]
        owners = partition(labels, PARTIES, sizes=sizes, concentration=concentration, seed=repeat)
        queries, rng = [question.query for question in self.invitation.questions], as_rng(repeat)
        self.exact = [self.table.exact(query, rows, owners, PARTIES) for query in queries]
        self.noisy = [each + noise(self.invitation, place, each.shape, rng) for place, each in enumerate(self.exact)]
        self.units = [query.unit(self.table.schema) for query in queries]
        self.deviations = [self.invitation.variance(place, 1) ** 0.5 for place in range(len(queries))]
        self.most = 6 * self.table.schema.records / PARTIES
        self.hostile = np.random.default_rng(repeat).permutation(PARTIES)[: 3 * PARTIES // 10]

    def messages(self, tables):
        names = [party.name for party in self.invitation.parties]
        kind = self.invitation
        return [
            Message(kind.hash, kind.round, name, True, tuple(table[place] for table in tables))
            for place, name in enumerate(names)
        ]

    def attacked(self, attack):
        """The answers if the hostile parties send what `attack` makes of a party's table."""
        tables = [each.copy() for each in self.noisy]
        directions = self.against()
        for place, table in enumerate(tables):
            truth = self.exact[place].sum(axis=0) / self.exact[0].sum() * self.units[0]
            for order, party in enumerate(self.hostile):
                own = self.exact[place][party]
                table[party] = np.rint(
                    attack(
                        Victim(truth, own, table[party] - own, directions[place], self.deviations[place],
                               self.units[place], self.most, order % 3 == place % 3)
                    )
                )  # fmt: skip
        return self.messages(tables)

    def against(self):
        """The direction that moves each class's shares towards another's, of length one in standard deviations."""
        parts = []
        for exact, deviation in zip(self.exact, self.deviations, strict=True):
            mean = exact.mean(axis=0)
            shares = mean / mean.sum(axis=1, keepdims=True)
            parts.append((np.roll(shares, 1, axis=0) - shares) * mean.sum(axis=1, keepdims=True) / deviation)
        length = np.sqrt(sum((part**2).sum() for part in parts))
        return [part / length for part in parts]

    def accuracy(self, statistics):
        return self.table._score(statistics, self.test)


class Victim:
    """What a hostile party knows when it makes up a table: everything."""

    def __init__(self, truth, own, noise, direction, deviation, unit, most, turn):
        self.truth, self.own, self.noise, self.direction = truth, own, noise, direction
        self.deviation, self.unit, self.most, self.turn = deviation, unit, most, turn
        self.shares = truth / truth.sum(axis=1, keepdims=True)
        self.wrong = np.roll(self.shares, 1, axis=0)
        self.size = own.sum() / unit

    def in_one_class(self, size):
        table = np.zeros_like(self.truth)
        table[0] = self.truth.sum(axis=0) * size
        return table

    def worst_cells(self):
        """All of a class in the cell that speaks most for another."""
        table = np.zeros_like(self.truth)
        rows = np.arange(len(table))
        table[rows, np.argmin(self.shares - self.wrong, axis=1)] = self.truth.sum(axis=1) * self.most
        return table


ATTACKS = {
    "labels flipped": lambda v: np.roll(v.own + v.noise, 1, axis=0),
    "labels flipped, at most records": lambda v: np.roll(v.truth, 1, axis=0) * v.most,
    "everything in one class": lambda v: v.in_one_class(v.size) + v.noise,
    "everything in one class, at most records": lambda v: v.in_one_class(v.most),
    "mass in the worst cells": lambda v: v.worst_cells(),
    "shares of another class": lambda v: v.wrong * v.truth.sum(axis=1, keepdims=True) * v.most,
    "one class only, at most records": lambda v: np.eye(len(v.own))[:, :1] * v.shares * v.unit * v.most,
    "edges of the range": lambda v: np.where(v.wrong > v.shares, v.most * v.unit + 5 * v.deviation, -5 * v.deviation),
    "two deviations in every cell": lambda v: v.own + np.where(v.wrong > v.shares, 2, -2) * v.deviation,
    "agreed, below the filter": lambda v: v.own + v.noise + 6 * v.direction * v.deviation,
    "agreed, above the filter": lambda v: v.own + v.noise + 12 * v.direction * v.deviation,
    "agreed, without noise": lambda v: v.own + 8 * v.direction * v.deviation,
    "agreed, with little noise": lambda v: v.own + 0.7 * v.noise + 8 * v.direction * v.deviation,
    "in three groups": lambda v: v.own + v.noise + 13 * v.turn * v.direction * v.deviation,
    "nothing": lambda v: np.zeros_like(v.own),
}  # fmt: skip
