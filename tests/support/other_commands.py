"""What engines have to do besides training: score and answer as memory does."""

import math

from discreet import DecisionTree, Ledger, NaiveBayes, evaluate
from discreet.evaluation import evaluate_from
from discreet.federated import Party, invite
from discreet.sources.memory import MemorySource
from support.records import draw_records


def plain_columns():
    """Plain values, some of them missing, with a column that no schema knows."""
    drawn = {name: values.tolist() for name, values in draw_records(200, seed=5).items()}
    return {
        "id": list(range(200)),
        **{name: [None if value != value else value for value in values] for name, values in drawn.items()},
    }


def known(columns, schema):
    """The columns of the schema."""
    return {name: values for name, values in columns.items() if name in schema.all_names}


def assert_same_scores(schema, columns, opened):
    """The exact numbers of each pair of true and predicted class, of two kinds of models, are those in memory."""
    for model in (NaiveBayes(schema, epsilon=5, random_state=0), DecisionTree(schema, epsilon=5, random_state=0)):
        model.fit(draw_records(400, seed=3))
        expected = evaluate(model, known(columns, schema), epsilon=math.inf)
        found = evaluate_from(model, opened(), epsilon=math.inf)
        assert (found.right, found.wrong) == (expected.right, expected.wrong)
        assert found.confusion == expected.confusion


def assert_same_answers(schema, columns, source):
    """A party answers an invitation as if its records were in memory."""
    schema = schema.replace(ignore=["id"])
    invitation = invite(schema, 1, ["north", "south"])
    found, expected = (
        Party("north", each, Ledger(1), random_state=2).answer(invitation).tables
        for each in (source, MemorySource(known(columns, schema)))
    )
    assert [table.tolist() for table in found] == [table.tolist() for table in expected]
