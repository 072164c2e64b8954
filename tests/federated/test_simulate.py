"""The simulation: counts as the parties', noise of the law that each protocol has, accuracy as it should be."""

import csv
import json
import math

import numpy as np
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

from discreet import Ledger, NaiveBayes, datasets
from discreet.cli import federated_simulate
from discreet.errors import DataError, ParameterError
from discreet.federated.aggregator import Aggregator
from discreet.federated.invitation import invite
from discreet.federated.masks import KeyPair
from discreet.federated.partition import partition
from discreet.federated.party import Party
from discreet.federated.simulate import PROTOCOLS, PublicTable, Setting, grid, noise
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.queries.tables import Counts, SoftCounts, SplineCounts
from discreet.sources.memory import MemorySource
from support.records import split_target

NEARLY_EXACT = 10_000
"""An epsilon at which noise is zero but for one draw in e^100."""


@pytest.fixture
def table(schema, records):
    return PublicTable(*split_target(records), schema)


@pytest.mark.parametrize(
    "query", [Counts("site"), Counts("age", 8), SplineCounts("dose", 4), SoftCounts("dose")], ids=repr
)
def test_the_exact_tables_are_those_of_each_party(table, schema, records, query):
    rows = np.arange(5, 395)
    owners = partition(records["outcome"][rows], 4, sizes="exponential", concentration=1.0, seed=1)
    found = table.exact(query, rows, owners, 4)
    for party in range(4):
        own = {name: values[rows[owners == party]] for name, values in records.items()}
        expected = MemorySource(own).count([query.cells(schema)], schema).answer(query, schema)
        assert np.array_equal(found[party], expected)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_without_noise_the_simulation_is_the_real_protocol(table, schema, records, protocol, tmp_path):
    """Real parties with ledgers, keys and masks, and an aggregator, against the simulation of the same rows."""
    setting, names = Setting(protocol, 3, NEARLY_EXACT), ["a", "b", "c"]
    rows, _ = table.split(0)
    simulated = table.statistics(setting, rows, repeat=0)
    pairs = {name: KeyPair.generate() for name in names}
    keys = {name: pair.public for name, pair in pairs.items()} if protocol == "secure-sum" else None
    names = ["a"] if protocol == "central" else names
    invitation = invite(schema, NEARLY_EXACT, names, trust="sum" if keys else "nobody", keys=keys)
    aggregator = Aggregator(invitation)
    for place, name in enumerate(names):
        own = MemorySource({column: values[rows[place :: len(names)]] for column, values in records.items()})
        ledger = Ledger(NEARLY_EXACT, tmp_path / name)
        aggregator.add(Party(name, own, ledger, key=pairs[name] if keys else None, checked=True).answer(invitation))
    real = aggregator.statistics()
    assert [query for query, _ in simulated.tables] == [query for query, _ in real.tables]
    for (_, ours), (_, theirs) in zip(simulated.tables, real.tables, strict=True):
        assert np.array_equal(ours.values, theirs.values)
        assert ours.variance == theirs.variance


def invitation_of(schema, protocol, parties, honest=None):
    names = [f"p{number}" for number in range(parties)]
    keys = {name: f"{place + 9:064x}" for place, name in enumerate(names)} if protocol == "secure-sum" else None
    return invite(schema, 2, names, trust="sum" if keys else "nobody", keys=keys, honest=honest)


@pytest.mark.parametrize("parties", [2, 10, 100])
def test_the_shares_of_all_parties_add_up_to_one_discrete_laplace(schema, parties):
    """Equal in law: the exact law of the noise of training at one place, by a chi-squared test."""
    invitation = invitation_of(schema, "secure-sum", parties, honest=parties)
    drawn = noise(invitation, 0, (parties, 20_000), as_rng(5)).sum(axis=0)
    scale = invitation.steps("p0")[0].mechanism.scale
    p = math.exp(-1 / scale)
    reach = math.ceil(5 * scale)
    law = (1 - p) / (1 + p) * p ** np.abs(np.arange(-reach, reach + 1))
    expected = 20_000 * np.concatenate([[(1 - law.sum()) / 2], law, [(1 - law.sum()) / 2]])
    observed = np.bincount(np.clip(drawn, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    groups = np.arange(len(expected)) * 40 // len(expected)
    counts = [np.bincount(groups, weights=each) for each in (observed, expected)]
    assert stats.chisquare(*counts).pvalue > 1e-4


def test_each_protocol_has_the_variance_that_the_invitation_says(schema):
    """Local noise: N times that of one place; shares that cover one party less: N / (N - 1) times."""
    for protocol, factor in (("local-noise", 20.0), ("secure-sum", 20 / 19)):
        invitation = invitation_of(schema, protocol, 20)
        one = DiscreteLaplace(invitation.steps("p0")[0].mechanism.scale).variance
        drawn = noise(invitation, 0, (20, 40_000), as_rng(6)).sum(axis=0)
        assert np.var(drawn) == pytest.approx(one * factor, rel=0.04)
        assert invitation.variance(0, 20) == pytest.approx(one * factor)


def test_each_party_draws_its_own_noise(schema):
    drawn = noise(invitation_of(schema, "local-noise", 3), 0, (3, 5000), as_rng(7))
    assert np.abs(np.corrcoef(drawn) - np.eye(3)).max() < 0.06


@pytest.fixture(scope="module")
def cancer():
    return PublicTable(*datasets.load("breast-cancer"))


def test_a_secure_sum_is_as_accurate_as_training_at_one_place_and_local_noise_is_not(cancer):
    scores = {
        (protocol, parties): cancer.run(Setting(protocol, parties, 1.0), 16).accuracy
        for protocol, parties in (("central", 1), ("secure-sum", 10), ("secure-sum", 50), ("local-noise", 50))
    }
    assert scores["secure-sum", 10] == pytest.approx(scores["central", 1], abs=0.025)
    assert scores["secure-sum", 50] == pytest.approx(scores["central", 1], abs=0.025)
    assert scores["local-noise", 50] < scores["central", 1] - 0.03


def test_training_at_one_place_is_that_of_the_model(cancer):
    """The same rows, the same plan: the mean accuracy of NaiveBayes itself."""
    X, y, schema = datasets.load("breast-cancer")
    scores = []
    for repeat in range(16):
        train, test = cancer.split(repeat)
        model = NaiveBayes(schema, epsilon=1, random_state=repeat)
        model.fit({name: values[train] for name, values in X.items()}, y[train])
        scores.append(model.score({name: values[test] for name, values in X.items()}, y[test]))
    assert cancer.run(Setting("central", 1, 1.0), 16).accuracy == pytest.approx(np.mean(scores), abs=0.025)


def test_how_rows_are_divided_changes_nothing_but_the_noise(table):
    """Sums do not depend on who has which row: with nearly no noise, skewed and equal partitions are one."""
    rows, _ = table.split(1)
    settings = [Setting("local-noise", 7, NEARLY_EXACT), Setting("local-noise", 7, NEARLY_EXACT, "exponential", 0.1)]
    first, second = (table.statistics(setting, rows, 1) for setting in settings)
    for (_, one), (_, other) in zip(first.tables, second.tables, strict=True):
        assert np.array_equal(one.values, other.values)


def test_test_rows_are_not_trained_on_and_everything_is_repeatable(table):
    train, test = table.split(0)
    assert not set(train) & set(test)
    assert sorted({*train, *test}) == list(range(400))
    assert not np.array_equal(test, table.split(1)[1])
    setting = Setting("local-noise", 5, 1.0)
    assert table.run(setting, 3) == table.run(setting, 3)


def test_models_of_a_simulation_guarantee_nothing(table, schema):
    rows, _ = table.split(0)
    noisy = table.statistics(Setting("secure-sum", 4, 1.0), rows, 0)
    model = NaiveBayes(schema).fit_noisy(noisy)
    assert not model.guarantee_.holds
    assert noisy.receipt.epsilon == 1


def test_the_grid_has_one_line_of_training_at_one_place_for_each_epsilon():
    settings = list(grid([1, 10], [0.1, 1.0]))
    assert len(settings) == len(set(settings)) == 6
    assert {(each.protocol, each.parties) for each in settings} == {
        ("central", 1), ("secure-sum", 10), ("local-noise", 10)
    }  # fmt: skip


def test_more_parties_than_rows_and_one_rule_work(schema, records):
    few = {name: values[:30] for name, values in records.items()}
    table = PublicTable(*split_target(few), schema.replace(records=None), model="one-rule")
    assert table.schema.records == 30
    assert 0 <= table.run(Setting("local-noise", 50, 1.0), 2).accuracy <= 1
    assert math.isnan(table.run(Setting("secure-sum", 50, 1.0), 1).error)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [({"protocol": "gossip"}, "protocol="), ({"epsilon": math.inf}, "epsilon=inf"), ({"epsilon": 0}, "epsilon=0"),
     ({"sizes": "odd"}, "sizes="), ({"parties": 0}, "parties")],
)  # fmt: skip
def test_wrong_settings_are_named(table, wrong, match):
    with pytest.raises(ParameterError, match=match):
        table.run(Setting(**{"protocol": "local-noise", "parties": 3, "epsilon": 1.0, **wrong}), 1)


def test_wrong_tables_are_named(schema, records):
    X, y = split_target(records)
    with pytest.raises(DataError, match="one label per row"):
        PublicTable(X, y[1:], schema)
    with pytest.raises(ParameterError, match="held_out="):
        PublicTable(X, y, schema, held_out=1.0)
    with pytest.raises(ParameterError, match="repeats="):
        PublicTable(X, y, schema).run(Setting("central", 1, 1.0), 0)


@pytest.fixture
def run():
    application = typer.Typer()
    application.command()(federated_simulate.simulate)
    return lambda *words: CliRunner().invoke(application, list(map(str, words)))


def test_the_command_writes_table_and_figure_and_says_that_data_must_be_public(run, tmp_path):
    pytest.importorskip("matplotlib")
    done = run("iris", "--out", tmp_path / "new", "--parties", "1,5", "--epsilons", "1,10", "--repeats", 2, "--json")
    assert done.exit_code == 0
    assert "For public data only" in done.stderr
    content = json.loads(done.stdout)
    assert "not private" in content["public_data_only"]
    with (tmp_path / "new" / "simulation.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(content["results"]) == 6
    assert {line["protocol"] for line in lines} == set(PROTOCOLS)
    assert [float(line["accuracy"]) for line in lines] == [line["accuracy"] for line in content["results"]]
    assert (tmp_path / "new" / "simulation.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_reads_a_file_with_its_schema(run, tmp_path, schema, records):
    schema.save(tmp_path / "schema.json")
    with (tmp_path / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*records.values(), strict=True))
    words = [tmp_path / "rows.csv", "--out", tmp_path, "--parties", "4", "--epsilons", "2", "--repeats", 1]
    done = run(*words, "--schema", tmp_path / "schema.json", "--sizes", "exponential", "--skew", 0.5)
    assert done.exit_code == 0, done.output
    assert "local-noise" in done.stdout
    assert isinstance(run(*words).exception, ParameterError)


@pytest.mark.parametrize(
    "wrong", [("--parties", "0"), ("--parties", "a"), ("--epsilons", "inf"), ("--epsilons", ""), ("--sizes", "odd")]
)
def test_the_command_names_wrong_options_before_it_works(run, tmp_path, wrong):
    done = run("iris", "--out", tmp_path / "none", "--repeats", 1, *wrong)
    assert isinstance(done.exception, ParameterError)
    assert not (tmp_path / "none" / "simulation.csv").exists()


def test_the_figure_has_a_panel_for_each_protocol_and_a_line_for_each_number_of_parties():
    pytest.importorskip("matplotlib")
    lines = [
        {
            "protocol": each.protocol,
            "parties": each.parties,
            "epsilon": each.epsilon,
            "accuracy": 0.5,
            "error": math.nan,
        }
        for each in grid([1, 10, 100], [0.1, 1.0])
    ]
    panels = federated_simulate.draw(lines, "name").axes
    assert [panel.get_title() for panel in panels] == ["local noise", "secure sum"]
    names = [text.get_text() for text in panels[0].get_legend().get_texts()]
    assert names == ["at one place", "10 parties", "100 parties"]
    assert all(panel.get_xscale() == "log" for panel in panels)
