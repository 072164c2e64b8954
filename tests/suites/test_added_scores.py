"""Models as sums, for engines that score in SQL: they predict what the models themselves predict, to the last bit."""

import numpy as np
import pytest

from discreet.queries.trees import Tree
from discreet.records.tables import open_records
from discreet.sources.memory import MemorySource
from support.estimators import PRIVATE
from support.untidy import in_arrays, mixed_schema, untidy


@pytest.mark.parametrize("classes", [["a", 1], ["it's", "a", 1]], ids=["two", "three"])
@pytest.mark.parametrize("name", PRIVATE)
def test_added_scores_are_those_of_the_model(name, classes):
    schema = mixed_schema(classes, records=1000)
    columns = in_arrays(untidy(300), schema)
    model = PRIVATE[name](schema, epsilon=3, random_state=1).fit_from(MemorySource(columns))
    known = {each: columns[each] for each in schema.names}
    added, rows = model.added_scores(), open_records(known, schema)
    scores = np.repeat(added.constants[None, :], rows.rows, axis=0)
    for group, table in added.groups:
        read = group.cells if isinstance(group, Tree) else [group]
        codes = {cells: rows.coder(cells, schema)(slice(0, rows.rows)) for cells in read}
        scores = scores + table[group.leaf_of(codes, rows.rows) if isinstance(group, Tree) else codes[group]]
    scores /= added.divisor
    assert np.array_equal(scores, np.concatenate(list(model._scores(known))))
    assert np.array_equal(np.array(added.positions)[np.argmax(scores, axis=1)], model.predict_positions(known))
