"""Sentences about the cells on perturbed records (Zorarpacı 2019, Tables 5.3, 5.5 and 5.7), all computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import mean

from discreet.research.comparison.grid import MAJORITY
from discreet.research.reproduce.zorarpaci2019 import rules_tables as tables
from discreet.research.reproduce.zorarpaci2019.private_cells import listed
from discreet.research.reproduce.zorarpaci2019.rules_counterparts import COUNTERPARTS
from discreet.research.reproduce.zorarpaci2019.rules_models import DATA, LEARNERS
from discreet.research.reproduce.zorarpaci2019.rules_tables import CENTRAL, EPSILONS, LOCAL, NEAR, Means

ByPlace = Mapping[tuple[str, str, str], float]
"""Accuracies by data set, model and epsilon."""
NOISY = EPSILONS[1:]


def sentences(means: Means) -> Iterator[str]:
    """Sentences on the well-known classifiers, the rule learners, gains by noise, and accuracy under local privacy."""
    yield well_known_sentence(means)
    yield learners_sentence(means)
    yield gains_sentence(means)
    yield local_sentence(means)


def _gaps(means: Means, models: Iterable[str], epsilons: Iterable[str], data: Iterable[str] = DATA) -> list[float]:
    """Our accuracy minus the thesis's, for all cells that have both."""
    scores = tables.printed_scores()
    keys = [(name, model, epsilon) for name in data for model in models for epsilon in epsilons]
    return [means[key].mean - scores[key] for key in keys if key in means]


def well_known_sentence(means: Means) -> str:
    """Whether the well-known classifiers suggest that noise, training and test are as in the thesis."""
    gaps, clear = (_gaps(means, COUNTERPARTS, epsilons) for epsilons in (NOISY, EPSILONS[:1]))
    if not gaps:
        return "The well-known classifiers were not run on perturbed records."
    near = sum(abs(gap) <= NEAR + 1e-9 for gap in gaps)
    average, apart = mean(gaps), mean(map(abs, gaps))
    said = (
        f"On the same noise the well-known classifiers are within {NEAR} of the thesis in {near} of {len(gaps)} cells, "
        f"{average:+.3f} on average over all, and {apart:.3f} apart in a cell"
    )
    said += f" ({mean(map(abs, clear)):.3f} on clear records)" if clear else ""
    if abs(average) > NEAR:
        return f"{said}. That is no support for noise, training and test being as we understand them."
    if 2 * near < len(gaps):
        return f"{said}. That is weak support for noise, training and test being as we understand them."
    return f"{said}. That suggests that noise, training and test are as we understand them."


def learners_sentence(means: Means) -> str:
    """The thesis's rule learners minus ours, by data set."""
    gaps = {data: -mean(found) for data in DATA if (found := _gaps(means, LEARNERS, NOISY, [data]))}
    if not gaps:
        return "The learners of rules were not run on perturbed records."
    ordered = sorted(gaps.items(), key=lambda each: -each[1])
    said = listed([f"{data} {gap:+.3f}" for data, gap in ordered])
    return f"The learners of rules of the thesis less ours on the same noise, on average over ε and learners: {said}."


def _gains(scores: ByPlace, data: Iterable[str] = DATA) -> dict[tuple[str, str, str], float]:
    """Accuracies of the rule learners on noisy records minus those on clear records."""
    keys = [(name, model, epsilon) for name in data for model in LEARNERS for epsilon in NOISY]
    return {
        key: scores[key] - scores[key[0], key[1], "inf"]
        for key in keys
        if key in scores and (key[0], key[1], "inf") in scores
    }


def gains_sentence(means: Means) -> str:
    """Where the thesis's learners are better with noise than without on sonar; the largest gains of theirs and ours.

    Sonar has the most columns, and therefore the most noise.
    """
    scores = tables.printed_scores()
    sonar = _gains(scores, ["sonar"])
    passed = {model: [key[2] for key, gain in sonar.items() if key[1] == model and gain > 0] for model in LEARNERS}
    said = "; ".join(f"{model} at {listed(epsilons)}" for model, epsilons in passed.items() if epsilons)
    ours = _gains({key: cell.mean for key, cell in means.items()})
    largest = f"{max(ours.values()):+.3f} in ours ({len(ours)} cells)" if ours else "ours were not run"
    return (
        "The sixty attributes of sonar have noise of the scale range / ε. In the thesis these pass there what they "
        f"reach without noise, at these ε: {said}. The largest gain by noise on any data set is "
        f"{max(_gains(scores).values()):+.3f} in the thesis, {largest}."
    )


def local_sentence(means: Means) -> str:
    """The distance of the rule learners from the largest class under local privacy."""
    said = []
    for epsilon in NOISY:
        above = [
            cell.mean - largest.mean
            for data in DATA
            for model in LEARNERS
            if (cell := means.get((data, model + LOCAL, epsilon))) and (largest := means.get((data, MAJORITY, "inf")))
        ]
        said += [f"{mean(above):+.3f} at ε = {epsilon}"] if above else []
    return (
        f"Under local privacy the learners of rules less the largest class, on average: {', '.join(said) or 'not run'}."
    )


def central_sentence(means: Means) -> str:
    """Noisy counts beside local noise, at equal epsilon and at half of it, which is at least as much privacy."""
    said = [text for epsilon in NOISY for text in _central(means, epsilon, epsilon)]
    fair = "".join(_central(means, "1", "2"))
    return (
        "The better of our naive Bayes and 1R, private by counts with noise, picked after the fact as is the best of "
        f"those it is held against: {'; '.join(said) or 'not run'}."
        + (f" As ε under add-remove is at most 2 ε for a replaced record, the fair pair is: {fair}." if fair else "")
    )


def _central(means: Means, central_epsilon: str, local_epsilon: str) -> Iterator[str]:
    """One phrase if a data set has both; the thesis's table is the one at the epsilon of the counts."""
    pairs = []
    for data in DATA:
        central = [cell.mean for name in CENTRAL if (cell := means.get((data, name, central_epsilon)))]
        local = [cell.mean for name in LEARNERS if (cell := means.get((data, name + LOCAL, local_epsilon)))]
        if central and local:
            published = [each for key, each in tables.printed_scores().items() if key[::2] == (data, central_epsilon)]
            pairs.append((max(central) > max(local), max(central) > max(published)))
    if pairs:
        beaten, above = (sum(column) for column in zip(*pairs, strict=True))
        if central_epsilon == local_epsilon:
            yield (
                f"at ε = {central_epsilon} above all learners on locally private records on {beaten} of {len(pairs)} "
                f"data sets, and above every figure that the thesis prints for its table without guarantee on {above}"
            )
        else:
            yield (
                f"counts at ε = {central_epsilon} are above all learners on records at a local ε of {local_epsilon} on "
                f"{beaten} of {len(pairs)} data sets"
            )
