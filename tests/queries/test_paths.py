"""Paths of a tree in words."""

from discreet import Categorical, Numeric, Schema
from discreet.queries.paths import path_of_each_leaf
from discreet.queries.trees import Split, Tree, complete_tree

SCHEMA = Schema([Numeric("n", 0, 8), Categorical("c", ["a", "b"])], "y", ["0", "1"])


def test_each_leaf_has_its_path_from_left_to_right():
    tree = complete_tree([[Split("n", 4, 1)], [Split("n", 4, 0), Split("c", None, 0)]])
    assert path_of_each_leaf(tree, SCHEMA) == ["n < 2", "2 <= n < 4", "n >= 4, c = a", "n >= 4, c is not a"]
    assert path_of_each_leaf(Tree((None,)), SCHEMA) == ["all records"]


def test_what_is_said_twice_is_said_once():
    twice = complete_tree([[Split("c", None, 0)], [Split("c", None, 2)] * 2])
    assert path_of_each_leaf(twice, SCHEMA) == ["c = a", "c = a", "c = (unlisted)", "c is not a or (unlisted)"]
    again = complete_tree([[Split("n", 4, 1)], [Split("n", 4, 1)] * 2])
    assert path_of_each_leaf(again, SCHEMA) == ["n < 4", "4 <= n < 4", "4 <= n < 4", "n >= 4"]
