"""Smooth sensitivity of the mean, variance and standard deviation, and the noise that is calibrated to it.

Notation. x is a list of n numbers clipped to the public [lower, upper], w = upper - lower, beta > 0,
kappa = (n-1)/n^2; variance is the population variance. Neighbours: lists that differ in one entry
("replace-one", n public) or by one entry added or removed ("add-remove", n private; the mean of the
empty list is the midpoint, its variance 0). LS(x) is the largest change of the statistic from x to a
neighbour. S is a beta-smooth upper bound when S >= LS and S(x) <= exp(beta) S(x') for neighbours.

Lemma (Nissim, Raskhodnikova, Smith 2007). If U_0 >= LS and U_k(x) <= U_{k+1}(x') for all neighbours
x, x' and k >= 0 ("nested"), then S = max_k exp(-beta k) U_k is a beta-smooth upper bound.
Proof: S(x) >= U_0(x) >= LS(x); exp(-beta k) U_k(x) <= exp(beta) exp(-beta (k+1)) U_{k+1}(x').

Every computation uses unit values y = (x - lower)/w in [0, 1], sorted. That map acts on each record alone, so its
rounding cannot break smoothness. `sort_to_unit` computes them once; the `unit_*` functions take them and return the
result for w = 1.

Rounding. Relative errors are about 1e-14 (measured up to n = 1 700 000), so S(x) <= exp(beta) S(x') holds up
to such a factor. `cauchy_calibration` reserves a fraction RESERVE of epsilon: by the triangle inequality for the
hyperbolic distance (see `cauchy_divergence`) a relative error of r in a scale adds at most r to the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TIGHT_STEPS = 2048
"""Number of steps k with the exact least variance; after them a cheaper lower bound is used. Bounds the time, which
grows with its square; must not depend on the data."""

OUTWARD = 1.0 + 1e-7
"""Factor on bounds for the standard deviation: covers relative rounding errors up to 2e-7 in each variance."""

TAIL_MARGIN = 1.0 + 1e-6
"""The lower bound on the variance falls faster by this factor, so that it stays nested in spite of rounding."""

LARGEST_EPSILON = 300.0
"""A larger epsilon is calibrated as this one: a stronger guarantee, and exp and sinh do not overflow."""

LEAST_EPSILON = 1e-100
"""The least epsilon that can be calibrated: with a much smaller one, squares of it would be 0 in floating point."""

RESERVE = 1e-9
"""Fraction of epsilon that is kept for rounding (see Rounding above)."""


def mean(values: npt.ArrayLike, lower: float, upper: float, beta: float, adjacency: str = "add-remove") -> float:
    """Smooth sensitivity of the mean; exact under "replace-one". See `unit_mean`.

    Values outside [lower, upper] are clipped, NaN becomes the midpoint.

    >>> mean([0, 1, 1, 3], 0, 4, beta=0.3, adjacency="replace-one")
    1.0
    """
    return unit_mean(_to_unit(values, lower, upper), beta, adjacency) * (float(upper) - float(lower))


def variance(values: npt.ArrayLike, lower: float, upper: float, beta: float, adjacency: str = "add-remove") -> float:
    """Smooth sensitivity of the variance; exact under "replace-one". See `unit_variance`.

    Values outside [lower, upper] are clipped, NaN becomes the midpoint.

    >>> variance([2, 2, 2, 2, 2], 0, 4, beta=1.0, adjacency="add-remove")
    2.56
    """
    width = float(upper) - float(lower)
    return unit_variance(sort_to_unit(values, lower, upper), beta, adjacency) * width * width


def standard_deviation(
    values: npt.ArrayLike, lower: float, upper: float, beta: float, adjacency: str = "add-remove"
) -> float:
    """Smooth upper bound for the standard deviation. See `unit_standard_deviation`.

    Values outside [lower, upper] are clipped, NaN becomes the midpoint.

    >>> round(standard_deviation([2, 2, 2, 2, 2], 0, 4, beta=1.0, adjacency="replace-one"), 6)
    0.8
    """
    width = float(upper) - float(lower)
    return unit_standard_deviation(sort_to_unit(values, lower, upper), beta, adjacency) * width


def sort_to_unit(values: npt.ArrayLike, lower: float, upper: float) -> Array:
    """Clip to [lower, upper], NaN to the midpoint, map to [0, 1] and sort."""
    unit = _to_unit(values, lower, upper)
    unit.sort()
    return unit


def unit_mean(unit: Array, beta: float, adjacency: str) -> float:
    """Smooth sensitivity of the mean of values in [0, 1].

    Replace-one, exact: max(max y, 1 - min y, exp(-beta))/n. Proof: LS = max_i max(y_i, 1 - y_i)/n; after
    one change some y_i is 1, so LS at distance k >= 1 is 1/n, its largest value. n = 0: no neighbour.
    Add-remove: max(1/max(n,2), exp(-beta max(n-2,0))/2). Proof: LS at size m is at most 1/max(m,2)
    (removal: (max y - mean)/(m-1) <= 1/m; addition: 1/(m+1); m <= 1: 1/2) and k steps leave m >= n-k, so
    U_k = 1/max(n-k,2) is nested; exp(beta m)/m is log-convex in m, so the maximum is at an end.
    """
    n = len(unit)
    if _is_replace_one(beta, adjacency):
        return max(float(unit.max()), 1 - float(unit.min()), math.exp(-beta)) / n if n else 0.0
    return max(1 / max(n, 2), math.exp(-beta * max(n - 2, 0)) / 2)


def unit_variance(unit: Array, beta: float, adjacency: str) -> float:
    """Smooth sensitivity of the variance of sorted values in [0, 1].

    Replace-one, exact: kappa max_k exp(-beta k) A_k, with A_k from `_variance_steps`.
    Add-remove: max over j in {2, 3, 4, m}, j <= m = max(n,2), of exp(-beta (m-j)) B(j), where
    B(j) = (j-1)/j^2. Proof: Var_m = ((m-1)/m) Var_{m-1} + ((m-1)/m^2)(z - mean)^2, so that removing from
    or adding to a list of size m changes Var by at most B(max(m,2)), which does not increase with m; k steps
    leave m >= n-k, so U_k = B(max(n-k,2)) is nested; exp(beta j) B(j) is log-convex for j >= 4.
    """
    n = len(unit)
    if _is_replace_one(beta, adjacency):
        return _kappa(n) * _largest_discounted(_variance_steps(unit), 1.0, beta, n) if n > 1 else 0.0
    size = max(n, 2)
    return max(math.exp(-beta * (size - j)) * (j - 1) / j**2 for j in (2, 3, 4, size) if j <= size)


def unit_standard_deviation(unit: Array, beta: float, adjacency: str) -> float:
    """Smooth upper bound for the standard deviation of sorted values in [0, 1].

    Guarantee  beta-smooth upper bound, by U_k = min(sqrt a_k, a_k/(sqrt V_k + sqrt V_{k+1})) and the lemma.
    Proof      a_k bounds one step of the variance from any list z within k steps of x, and is nested:
               replace-one kappa A_k (`_variance_steps`), add-remove B(max(n-k,2)) (`unit_variance`).
               V_k bounds Var(z) from below and V_{k+1}(x') <= V_k(x) (`_least_variances`). A step from z
               moves the root by |v - v'|/(sqrt v + sqrt v') and by at most sqrt|v - v'|, so U_k bounds LS(z);
               it is nested, since it grows with a_k and falls with V_k.
    Rests on   OUTWARD for rounding; privacy/test_smooth_sensitivity.py compares with enumeration.
    """
    n = len(unit)
    replace_one = _is_replace_one(beta, adjacency)
    if replace_one and n <= 1:
        return 0.0
    steps = _scaled(_kappa(n), _variance_steps(unit)) if replace_one else _size_steps(n)
    variances = _least_variances(unit, steps, replace_one)

    def bounds(count: int) -> Array:
        step, root = steps(count), np.sqrt(variances(count + 1))
        bound: Array = step / np.maximum(root[:-1] + root[1:], np.sqrt(step))
        return bound

    largest = math.sqrt(_kappa(n)) if replace_one else 0.5
    return OUTWARD * _largest_discounted(bounds, largest, beta, n)


def _largest_discounted(bounds: Callable[[int], Array], largest: float, beta: float, last: int) -> float:
    """max over k = 0..last of exp(-beta k) U_k, U_k <= largest; bounds(count) gives U_0..U_{count-1}."""
    count = min(64, last + 1)
    while True:
        best = float(np.max(np.exp(-beta * np.arange(count)) * bounds(count)))
        if count > last or math.exp(-beta * count) * largest <= best:
            return best
        count = min(4 * count, last + 1)


def _variance_steps(unit: Array) -> Callable[[int], Array]:
    """Replace-one, n >= 2: count -> A_0..A_{count-1}; kappa A_k is the largest LS of Var within k steps.

    Proof. Changing a to b among others of mean mu changes Var by kappa |(b-mu)^2 - (a-mu)^2|; the best b is
    0, 1 or mu. By mirroring (y -> 1-y) let b = 1, or a > mu when b = mu. What remains falls with mu, so moves
    send the largest free points to 0. P_m is the sum of the m smallest points; the best is one of
      a moved to 1, k-1 others to 0, b = mu:  (1 - mu)^2,        mu = P_{n-k}/(n-1)      (k >= 1);
      a = the largest, k next to 0, b = mu:   (a - mu)^2,        mu = P_{n-1-k}/(n-1)    (k < n);
      a among the n-k smallest, b = 1:        (1 - a)(p + q a),  p = 1 - 2 P_{n-k}/(n-1), q = (n+1)/(n-1),
    the last (k < n) concave in a with its peak at (q-p)/(2q), so the two points around it suffice (a larger a
    is dominated by the largest point; a freely chosen a is the first case). A_k grows with k, A_k <= 1 = A_n, and
    A_k(x) <= A_{k+1}(x'), since every list within k steps of x is within k+1 steps of x'.
    """
    mirrored = 1 - unit[::-1]
    halves = [(unit, _prefix_sums(unit)), (mirrored, _prefix_sums(mirrored))]

    def steps(count: int) -> Array:
        larger = np.maximum(*(_variance_half(points, sums, count) for points, sums in halves))
        return np.minimum(np.maximum.accumulate(larger), 1.0)

    return steps


def _variance_half(points: Array, sums: Array, count: int) -> Array:
    """The three cases of `_variance_steps` for k = 0..count-1, without the mirror."""
    n = len(points)
    k = np.arange(min(count, n))
    result = np.zeros(count)
    result[1:] = (1 - sums[n - np.arange(1, count)] / (n - 1)) ** 2
    kept_top = (points[-1] - sums[n - 1 - k] / (n - 1)) ** 2
    p, q = 1 - 2 * sums[n - k] / (n - 1), (n + 1) / (n - 1)
    above = np.minimum(np.searchsorted(points, (q - p) / (2 * q)), n - 1 - k)
    for index in (above, np.maximum(above - 1, 0)):
        a = points[index]
        np.maximum(kept_top, (1 - a) * (p + q * a), out=kept_top)
    result[: len(k)] = np.maximum(result[: len(k)], kept_top)
    return result


def _size_steps(n: int) -> Callable[[int], Array]:
    """Add-remove: count -> B(max(n-k,2)) for k = 0..count-1, B(m) = (m-1)/m^2 (see `unit_variance`)."""

    def steps(count: int) -> Array:
        size = np.maximum(n - np.arange(count), 2).astype(np.float64)
        return (size - 1) / size**2

    return steps


def _least_variances(unit: Array, steps: Callable[[int], Array], replace_one: bool) -> Callable[[int], Array]:
    """count -> V_0..V_{count-1}, V_k at most the least variance within k steps, and nested.

    With W_r the least sum of squares of n-r of the points (`_least_squares`), the least variance v_k is
    W_k/n under replace-one (moved points go to the mean of the rest) and min_{r<=k} W_r/(n+k-2r) under
    add-remove (r removals, k-r additions at that mean). V_k = v_k for k <= K = min(TIGHT_STEPS, n-1), and
    V_{k+1} = max(0, V_k - a_k) from there, a_k = steps: first exact, then looser.

    Nested: V_{k+1}(x') <= V_k(x). For k < K: every list within k steps of x is within k+1 steps of x'. For k = K:
    let z be a list of least variance within K+1 steps of x', z' its predecessor; Var z >= Var z' - a_K(x') >=
    v_K(x') - a_K(x'), so V_{K+1}(x') <= v_{K+1}(x') <= v_K(x). For k > K by induction: V_{k+1}(x') =
    max(0, V_k(x') - a_k(x')) <= max(0, V_{k-1}(x) - a_{k-1}(x)) = V_k(x), as a is nested.
    V_k <= v_k for k > K is the same argument. K must be the same for x and x', a constant; where it differs
    (add-remove, both sizes at most TIGHT_STEPS + 1) both sequences are exact, V_k = v_k = 0 for k >= n-1.
    """
    n = len(unit)
    least_squares = _least_squares(unit)

    def variances(count: int) -> Array:
        tight = min(count, TIGHT_STEPS + 1, n)
        result = np.zeros(count)
        squares = least_squares(tight)
        if replace_one:
            result[:tight] = squares / n
        else:
            for k in range(tight):
                result[k] = np.min(squares[: k + 1] / (n + k - 2 * np.arange(k + 1)))
        if 0 < tight < count:
            fallen = TAIL_MARGIN * _prefix_sums(steps(count - 1)[tight - 1 :])[1:]
            result[tight:] = np.maximum(result[tight - 1] - fallen, 0.0)
        return result

    return variances


def _least_squares(unit: Array) -> Callable[[int], Array]:
    """count -> W_0..W_{count-1}: W_k is the least sum of squares about the mean of n-k of the sorted points.

    The best n-k points are consecutive, which leaves k+1 windows. For k <= n/4 the windows share a core, and
    W = Q - M^2/m with sums taken about the median of all points: no cancellation, as at least a third of
    each window lies on either side of the median, hence (mean - median)^2 <= 2 Var (Cantelli) and Q <= 3 W.
    Otherwise (n < 4 TIGHT_STEPS) windows grow from one point by Welford's update, which only adds squares.
    """
    n = len(unit)
    wing = min(TIGHT_STEPS, n // 4)
    centred = unit - unit[n // 2] if n else unit
    sums = [_window_sums(power, wing) for power in (centred, np.square(centred))]

    def by_wings(count: int) -> Array:
        result = np.empty(count)
        for k in range(count):
            m, q = (left[: k + 1] + right[k::-1] for left, right in sums)
            result[k] = np.min(q - m * m / (n - k))
        return np.maximum(result, 0.0)

    def by_growth(count: int) -> Array:
        result = np.zeros(n)
        average, squares = unit.copy(), np.zeros(n)
        for m in range(1, n):
            gap = unit[m:] - average[: n - m]
            squares = squares[: n - m] + gap * gap * (m / (m + 1))
            average = average[: n - m] + gap / (m + 1)
            result[n - m - 1] = squares.min()
        return result[:count]

    return lambda count: by_wings(count) if count - 1 <= wing else by_growth(count)


def _window_sums(points: Array, wing: int) -> tuple[Array, Array]:
    """(left, right): left[i] + right[j] is the sum without the first i and last j points; i, j <= wing."""
    n = len(points)
    left, right = np.zeros(wing + 1), np.zeros(wing + 1)
    left[:wing] = np.cumsum(points[:wing][::-1])[::-1]
    right[:wing] = np.cumsum(points[n - wing :])[::-1]
    return left + points[wing : n - wing].sum(), right


def _prefix_sums(points: Array, block: int = 1024) -> Array:
    """0, p_0, p_0 + p_1, ...: summed in blocks, so that the relative rounding error stays below 1e-12."""
    n = len(points)
    rows = -(-n // block)
    padded = np.zeros(rows * block)
    padded[:n] = points
    sums = np.cumsum(padded.reshape(rows, block), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, np.newaxis]
    return np.concatenate(([0.0], sums.ravel()[:n]))


def _scaled(factor: float, steps: Callable[[int], Array]) -> Callable[[int], Array]:
    return lambda count: factor * steps(count)


def _kappa(n: int) -> float:
    return (n - 1) / n**2


def _is_replace_one(beta: float, adjacency: str) -> bool:
    if not (math.isfinite(beta) and beta > 0):
        raise ValueError(f"got beta={beta}; need a finite number > 0")
    if adjacency not in ("add-remove", "replace-one"):
        raise ValueError(f"got adjacency={adjacency!r}; need 'add-remove' or 'replace-one'")
    return adjacency == "replace-one"


def _to_unit(values: npt.ArrayLike, lower: float, upper: float) -> Array:
    width = float(upper) - float(lower)
    if not (math.isfinite(width) and width > 0):
        raise ValueError(f"got lower={lower}, upper={upper}; need finite numbers, lower < upper")
    points = np.array(values, dtype=np.float64)
    if points.ndim != 1:
        raise ValueError(f"got values of {points.ndim} dimensions; need a flat list")
    np.clip(points, lower, upper, out=points)
    points -= lower
    points /= width
    points[np.isnan(points)] = 0.5
    return points


def cauchy_divergence(location1: float, scale1: float, location2: float, scale2: float) -> float:
    """Max-divergence between two Cauchy laws: arccosh(1 + ((f1-f2)^2 + (s1-s2)^2)/(2 s1 s2)).

    Proof. With l = ln(s1/s2), z = (o-f1)/s1, t = (f1-f2)/s1 the density ratio at o is
    exp(-l)(1 + exp(2l)(z+t)^2)/(1+z^2), a Rayleigh quotient in (1, z) of a matrix of determinant 1 and trace
    2 cosh(l) + exp(l) t^2 = 2 cosh d. Its supremum is the top eigenvalue, exp(d). This d is the distance of
    (f1, s1) and (f2, s2) in the hyperbolic half-plane; it is symmetric and obeys the triangle inequality.
    """
    if not (math.isfinite(location1) and math.isfinite(location2)):
        raise ValueError(f"got locations {location1}, {location2}; need finite numbers")
    if not (0 < scale1 < math.inf and 0 < scale2 < math.inf):
        raise ValueError(f"got scales {scale1}, {scale2}; need finite numbers > 0")
    chord = math.hypot(location1 - location2, scale1 - scale2)
    return 2 * math.asinh(chord / (2 * math.sqrt(scale1) * math.sqrt(scale2)))


def cauchy_epsilon(a: float, b: float) -> float:
    """Exact privacy loss of f(x) + (S(x)/a) Z, Z standard Cauchy, S a b-smooth upper bound on LS.

    arccosh max{1 + a^2/2, cosh b + (a^2/2) exp(-b)}. Proof: |f - f'| <= min(S, S') as LS bounds the step
    from both ends; with l = |ln(S/S')| <= b, `cauchy_divergence` gives cosh d <= cosh l + (a^2/2) exp(-l),
    convex in l, so the maximum is at l = 0 or l = b. Both are attained if nothing more is known of f and S.
    """
    if not (0 <= a < math.inf and 0 <= b <= 2 * LARGEST_EPSILON):
        raise ValueError(f"got a={a}, b={b}; need a finite a >= 0 and 0 <= b <= {2 * LARGEST_EPSILON:g}")
    excess = max(a * a / 2, 2 * math.sinh(b / 2) ** 2 + a * a / 2 * math.exp(-b))
    return 2 * math.asinh(math.sqrt(excess / 2))


def cauchy_calibration(epsilon: float, beta: float | None = None) -> tuple[float, float]:
    """(a, b) such that adding (S/a) Cauchy noise, S b-smooth, is epsilon-DP; b is `beta` when given.

    a = min(2 sinh(e/2), sqrt(2 exp(b)(cosh e - cosh b))) solves `cauchy_epsilon`(a, b) = e. The default
    b = ln(2 cosh e - 1) is the largest b that allows a = 2 sinh(e/2), the greatest value of a. Here e is
    epsilon (1 - RESERVE): the rest covers rounding in S and in the scale (see the head of this module).
    """
    if not (math.isfinite(epsilon) and epsilon >= LEAST_EPSILON):
        raise ValueError(f"got epsilon={epsilon}; need a finite number > 0 (at least {LEAST_EPSILON:g})")
    e = min(epsilon, LARGEST_EPSILON) * (1 - RESERVE)
    greatest = 2 * math.sinh(e / 2)
    if beta is None:
        return greatest, math.log1p(greatest**2)
    if not 0 < beta < e:
        raise ValueError(f"got beta={beta}; need 0 < beta < epsilon={min(epsilon, LARGEST_EPSILON)}")
    frontier = 2 * math.sqrt(math.exp(beta) * math.sinh((e + beta) / 2) * math.sinh((e - beta) / 2))
    return min(greatest, frontier), beta


def student_t_epsilon(a: float, b: float, degrees: float) -> float:
    """Bound on the privacy loss of f(x) + (S(x)/a) T, T Student's t: max(1, nu) b + a (nu+1)/(2 sqrt nu).

    Proof (nu = degrees): the log-density has slope at most (nu+1)/(2 sqrt nu), at z = sqrt nu, which bounds
    the effect of a shift at a fixed scale; a change of scale by exp(l) changes the log-density by -l at the centre
    and by nu l far out, monotone between.
    """
    if not (0 <= a < math.inf and 0 <= b < math.inf and 0 < degrees < math.inf):
        raise ValueError(f"got a={a}, b={b}, degrees={degrees}; need finite a >= 0, b >= 0, degrees > 0")
    return max(1.0, degrees) * b + a * (degrees + 1) / (2 * math.sqrt(degrees))
