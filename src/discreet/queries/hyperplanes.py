"""Records as vectors of bounded size, and the query whose answer is the weights of hyperplanes between classes.

Each column becomes a group of coordinates. A numeric column is one number z in [-1, 1], or one coordinate per knot that
says how near the value is to the knot (linear B-splines). Two categories are -1 and 1 in one coordinate; three or more
have one coordinate each; an unlisted category is the zero vector, which adds nothing. The leaves of a public tree can
be a group: 1 in the coordinate of the leaf in which the record ends. The last group is the constant 1. All coordinates
are integers divided by a public unit.

Guarantee  for every record, each group has L1 norm at most 1; so the vector has L2 norm at most the square root of the
           number of groups.
Proof      a cell has at most two nonzero integers, whose absolute values sum to at most `unit` (`Feature` checks this
           for all cells, which are public): |2t - g| <= g for a grid point t of g; the nearness to two neighbouring
           knots is (u - s, s) with 0 <= s <= u; a category, or a leaf, is 1 in one place. |x|_2^2 is the sum over
           groups of |x_j|_2^2, each at most |x_j|_1^2 <= 1.
Test       tests/doors/test_hyperplanes.py::test_every_record_is_a_vector_of_bounded_size
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.paths import path_of_each_leaf
from discreet.queries.trees import Node, Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Numeric, is_integer

MOST_KNOTS = 64
"""The most knots per numeric column: far more than any budget pays for, since noise grows with the coordinates."""
MOST_BITS = 60
"""The most bits of a weight after the binary point, so that weights stay machine integers."""
NEAR_BOUNDS = (Fraction(1, 64), Fraction(1, 16))
"""Where the additional knots of `edges` lie, as fractions of the range from either bound."""
FURTHER, MOST_AWAY = 4, 3
"""Outside of a part of the range, a knot is this many times as far away from it as the one before; the first is as far
as the part is wide, and so many steps leave the range of the narrowest part."""
STEPS = 1 << 16
"""Steps into which the way from one knot to the next is divided, if there are knots near the bounds."""

PARTS = 64
"""Parts of a number's range: what is looked at begins and ends between two of them."""
Part = tuple[int, int]
"""A part of a number's range, in `PARTS` of it."""
WHOLE: Part = (0, PARTS)


@dataclass(frozen=True, eq=False)
class Feature:
    """A group of coordinates: each cell is `weights` / `unit` at two `places` (arrays, cells by two).

    The cells are those of one column, or the leaves of a tree.
    """

    cells: Cells | Tree
    places: Integers
    weights: Integers
    unit: int
    names: tuple[str, ...]
    values: tuple[tuple[str, int, int], ...]
    """The cells in words, each with its coordinate and the sign that it has there."""

    def __post_init__(self) -> None:
        if np.abs(self.weights).sum(axis=1).max(initial=0) > self.unit:
            raise ValueError(
                f"a group of coordinates has L1 norm above 1; need weights that sum to at most {self.unit}"
            )

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def read(self) -> list[Cells]:
        """The cells of columns that tell in which cell of this group a record lies."""
        return self.cells.cells if isinstance(self.cells, Tree) else [self.cells]

    @property
    def columns(self) -> list[str]:
        """Names of the columns that this group depends on."""
        return list(dict.fromkeys(cells.column for cells in self.read))

    def codes(self, read: Mapping[Cells, NDArray[Any]], records: int) -> NDArray[Any]:
        """The cell of each record, from its codes in the cells of columns."""
        if isinstance(self.cells, Tree):
            return self.cells.leaf_of(read, records).astype(np.uint16)
        return read[self.cells]

    def table(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of each cell with a weight vector, or with several (this group's coordinates are axis 0)."""
        coordinates = (self.weights / self.unit)[(..., *([None] * (weights.ndim - 1)))]
        return np.asarray((weights[self.places] * coordinates).sum(axis=1))


@dataclass(frozen=True)
class Hyperplanes:
    """The weights of each class (two classes: of one hyperplane between them), in steps of 2**-`bits`.

    The class with the largest score is predicted. Files of version 0.1 hold a hyperplane of each class against the
    rest, from objectives of their own, which is read in the same way.

    `knots` is the number of evenly spaced spline knots per numeric column; 1 means linear. With `edges` there are two
    more near either bound, unless the column is linear. `columns` are the columns that take part (None for all),
    `nodes` is a tree whose leaves are one more group (None for no such group), and `ranges` are the parts of their
    ranges that numbers fill, as (name, low, high) in `PARTS` of the range: a line ends at the ends of its part, and
    knots lie in it and at the bounds. All three are public, because they were chosen by mechanisms that were paid for.
    Only doors/hyperplanes.py answers this.
    """

    knots: int
    bits: int
    edges: bool = False
    columns: tuple[str, ...] | None = None
    nodes: tuple[Node, ...] | None = None
    ranges: tuple[tuple[str, int, int], ...] | None = None

    def __post_init__(self) -> None:
        if not (
            is_integer(self.knots)
            and 1 <= self.knots <= MOST_KNOTS
            and is_integer(self.bits)
            and 0 <= self.bits <= MOST_BITS
        ):
            raise ValueError(
                f"knots={self.knots!r}, bits={self.bits!r}; need 1 to {MOST_KNOTS} knots and 0 to {MOST_BITS} bits"
            )
        if not isinstance(self.edges, bool):
            raise ValueError("edges is not a truth value; need true or false")
        if self.columns is not None:
            if not isinstance(self.columns, list | tuple) or not all(isinstance(name, str) for name in self.columns):
                raise ValueError("the chosen columns are not a list of names; need names of columns, or null")
            object.__setattr__(self, "columns", tuple(self.columns))
        if self.nodes is not None:
            object.__setattr__(self, "nodes", Tree(self.nodes).nodes)
        if self.ranges is not None:
            object.__setattr__(self, "ranges", _checked_ranges(self.ranges))

    def features(self, schema: Schema) -> tuple[Feature, ...]:
        """The groups of coordinates, without the constant. A group with one cell tells nothing and is left out.

        ValueError if a column or the tree does not fit the schema.
        """
        made = [feature_of(each, self.knots, edges=self.edges, part=part) for each, part in self._asked(schema)]
        if self.nodes is not None:
            made.append(_leaves(Tree(self.nodes), schema))
        return tuple(each for each in made if each.size)

    def groups(self, schema: Schema) -> tuple[int, ...]:
        """Number of coordinates of each group, the sizes of `features` (tested); the constant is last."""
        sizes = [size_of(each, self.knots, edges=self.edges, part=part) for each, part in self._asked(schema)]
        if self.nodes is not None:
            leaves = _fitting(Tree(self.nodes), schema).leaves
            sizes.append(leaves if leaves > 1 else 0)
        return (*(size for size in sizes if size), 1)

    def _asked(self, schema: Schema) -> list[tuple[Column, Part]]:
        """The columns that take part, and where numbers are looked at; ValueError if the schema does not have them."""
        parts = {name: (low, high) for name, low, high in self.ranges or ()}
        if not all(name in schema.names and isinstance(schema[name], Numeric) for name in parts):
            raise ValueError("the chosen ranges are not of numeric columns of the schema; use the schema they are from")
        asked = schema.names if self.columns is None else self.columns
        distinct = set(asked)
        if not distinct <= set(schema.names) or len(distinct) < len(asked):
            raise ValueError("the chosen columns are not columns of the schema; use the schema they were chosen from")
        return [(each, parts.get(each.name, WHOLE)) for each in schema.columns if each.name in distinct]

    def problems(self, schema: Schema) -> int:
        """Number of rows of weights: one per class, or a single one for two classes."""
        return 1 if len(schema.classes) <= 2 else len(schema.classes)

    def shape(self, schema: Schema) -> tuple[int, int]:
        """Number of rows of weights and of coordinates; public."""
        return self.problems(schema), sum(self.groups(schema))


def _checked_ranges(ranges: Any) -> tuple[tuple[str, int, int], ...]:
    """The ranges as tuples; ValueError unless each names a column once, and a part of its range."""
    if not isinstance(ranges, list | tuple) or not all(isinstance(each, list | tuple) for each in ranges):
        raise ValueError("the chosen ranges are not a list of lists; need a name and two integers in each, or null")
    for each in ranges:
        if len(each) != 3 or not isinstance(each[0], str) or not all(is_integer(bound) for bound in each[1:]):
            raise ValueError("a chosen range is not a name and two integers; need these three")
        if not 0 <= each[1] < each[2] <= PARTS:
            raise ValueError(f"a chosen range has bounds {each[1]} and {each[2]}; need 0 <= low < high <= {PARTS}")
    if len({each[0] for each in ranges}) < len(ranges):
        raise ValueError("a column has two chosen ranges; need one at most")
    return tuple((name, low, high) for name, low, high in ranges)


def feature_of(column: Column, knots: int, *, edges: bool = False, part: Part = WHOLE) -> Feature:
    """The group of coordinates of a column; of a number, it is looked at in this part of its range."""
    if isinstance(column, Categorical):
        return _categories(column)
    if knots == 1:
        return _line(column, part)
    return _uneven(column, knots, edges, part) if edges or part != WHOLE else _even(column, knots)


def size_of(column: Column, knots: int, *, edges: bool = False, part: Part = WHOLE) -> int:
    """Number of coordinates of a column's group, without making the group: plans need no more."""
    if isinstance(column, Categorical):
        listed = len(column.categories)
        return 0 if column.size <= 1 else 1 if listed <= 2 else listed
    uneven = knots > 1 and (edges or part != WHOLE)
    return len(knot_positions(column.grid, knots, edges, part)) if uneven else knots


def _line(column: Numeric, part: Part) -> Feature:
    """One coordinate: the number, from -1 at one end of the part to 1 at the other, and no further outside."""
    low, high = _within(column.grid, part)
    code = np.arange(column.grid + 1, dtype=np.int64).clip(low, high)
    weights = np.stack([2 * code - (low + high), 0 * code], axis=1)
    ends = (f"near {spelled(at)}" for at in _numbers_at(column, (low, high)))
    values = tuple((value, 0, sign) for value, sign in zip(ends, (-1, 1), strict=True))
    return Feature(Cells(column.name), np.zeros_like(weights), weights, high - low, (column.name,), values)


def _even(column: Numeric, knots: int) -> Feature:
    """One coordinate per knot, evenly spaced: 1 at the knot, 0 from the next knot on, linear between."""
    code = np.arange(column.grid + 1, dtype=np.int64)
    left, beyond = np.divmod(code * (knots - 1), column.grid)
    places = np.stack([left, np.minimum(left + 1, knots - 1)], axis=1)
    weights = np.stack([column.grid - beyond, beyond], axis=1)
    return _spline(column, places, weights, column.grid, np.linspace(column.lower, column.upper, knots).tolist())


def _uneven(column: Numeric, knots: int, edges: bool, part: Part) -> Feature:
    """The same with knots that lie on points of the grid, where `knot_positions` says."""
    positions = knot_positions(column.grid, knots, edges, part)
    places, weights = _uneven_grid(column.grid, positions)
    return _spline(column, places, weights, STEPS, _numbers_at(column, positions))


def _numbers_at(column: Numeric, positions: Sequence[int]) -> list[float]:
    width = float(column.upper) - float(column.lower)
    return [float(column.lower) + width * (position / column.grid) for position in positions]


@lru_cache(maxsize=64)  # columns with the same grid share their arrays: wide tables are planned fast, in little memory
def _uneven_grid(grid: int, positions: tuple[int, ...]) -> tuple[Integers, Integers]:
    """Places and weights of all grid points between knots at these positions, of which some lie at both ends."""
    at, code = np.array(positions, dtype=np.int64), np.arange(grid + 1, dtype=np.int64)
    left = np.minimum(np.searchsorted(at, code, side="right") - 1, len(at) - 2)
    beyond = STEPS * (code - at[left]) // (at[left + 1] - at[left])
    places, weights = np.stack([left, left + 1], axis=1), np.stack([STEPS - beyond, beyond], axis=1)
    for shared in (places, weights):
        shared.flags.writeable = False
    return places, weights


@lru_cache(maxsize=256)
def knot_positions(grid: int, knots: int, edges: bool = True, part: Part = WHOLE) -> tuple[int, ...]:
    """Grid points of evenly spaced knots in a part of the range, and of both bounds; with `edges` also of some near the
    bounds or, outside of the part, of some further and further away from it. Each once and in order.

    >>> knot_positions(128, 3)
    (0, 2, 8, 64, 120, 126, 128)
    >>> knot_positions(128, 3, False, (0, 32)), knot_positions(128, 3, True, (0, 8))
    ((0, 32, 64, 128), (0, 8, 16, 32, 80, 128))
    """
    low, high = _within(grid, part)
    near = NEAR_BOUNDS if edges and part == WHOLE else ()
    parts = {Fraction(place, knots - 1) for place in range(knots)} | {*near, *(1 - each for each in near)}
    found = {0, grid, *(low + round((high - low) * each) for each in parts)}
    if edges and part != WHOLE:
        away = [(high - low) * FURTHER**step for step in range(MOST_AWAY)]
        found |= {at for each in away for at in (low - each, high + each) if 0 < at < grid}
    return tuple(sorted(found))


def numbers_of(column: Numeric, part: Part) -> tuple[float, float]:
    """The numbers at both ends of a part of the range."""
    low, high = _numbers_at(column, _within(column.grid, part))
    return low, high


def _within(grid: int, part: Part) -> tuple[int, int]:
    """The first and the last grid point of a part of the range."""
    return grid * part[0] // PARTS, -(-grid * part[1] // PARTS)


def _spline(column: Numeric, places: Integers, weights: Integers, unit: int, knots: list[float]) -> Feature:
    near = [f"near {spelled(value)}" for value in knots]
    values = tuple((value, place, 1) for place, value in enumerate(near))
    names = tuple(f"{column.name} {value}" for value in near)
    return Feature(Cells(column.name), places, weights, unit, names, values)


def _fitting(tree: Tree, schema: Schema) -> Tree:
    """The tree; ValueError if it does not fit the schema."""
    if not tree.fits(schema):
        raise ValueError("the tree splits on columns or cells that the schema does not have; use the tree's schema")
    return tree


def _leaves(tree: Tree, schema: Schema) -> Feature:
    """One coordinate per leaf of a tree; none if the tree has only one."""
    size = tree.leaves if _fitting(tree, schema).leaves > 1 else 0
    places, weights = np.zeros((2, tree.leaves, 2), dtype=np.int64)
    places[:, 0], weights[:, 0] = np.arange(tree.leaves), 1
    paths = path_of_each_leaf(tree, schema)[:size]
    names = tuple(f"leaf {number}: {path}" for number, path in enumerate(paths, 1))
    return Feature(tree, places, weights, 1, names, tuple((path, place, 1) for place, path in enumerate(paths)))


def spelled(value: float) -> str:
    """A number with four digits, with an exponent only if it is very large or very small.

    >>> spelled(42857.14), spelled(0.5), spelled(1e300)
    ('42860', '0.5', '1e+300')
    """
    short = float(f"{value:.4g}")
    return f"{short:.12g}" if abs(short) < 1e9 else f"{short:.4g}"


def _categories(column: Categorical) -> Feature:
    """One coordinate for one or two categories, else one per category; none if the column has only one cell."""
    listed, size = len(column.categories), column.size
    texts = [str(label) for label in column.categories] + ["(unlisted)"] * column.unlisted
    places, weights = np.zeros((2, size, 2), dtype=np.int64)
    names: tuple[str, ...] = ()
    values: tuple[tuple[str, int, int], ...] = ()
    if size > 1 and listed <= 2:
        weights[:, 0] = [-1, 1, 0][:size]
        names, values = (f"{column.name} = {texts[1]}",), ((texts[0], 0, -1), (texts[1], 0, 1))
    elif size > 1:
        places[:listed, 0], weights[:listed, 0] = np.arange(listed), 1
        names = tuple(f"{column.name} = {text}" for text in texts[:listed])
        values = tuple((text, place, 1) for place, text in enumerate(texts[:listed]))
    return Feature(Cells(column.name), places, weights, 1, names, values)
