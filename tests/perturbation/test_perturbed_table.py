"""A perturbed table and its receipt: tied together by hashes and by their content."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from discreet import BeeRules, Categorical, LocalPerturbation, Numeric, Schema
from discreet.cli.application import app
from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.perturbation.decoding import as_texts
from discreet.perturbation.perturbed_table import read_perturbed, receipt_path, save_receipt
from discreet.storage.envelope import content_hash
from support.records import draw_records

SCHEMA = Schema(
    [Numeric("age", 0, 100, grid=50), Categorical("sex", ["F", "M"])], "y", ["no", "yes"], adjacency="replace-one"
)


def write(path, epsilon=4, seed=None, schema=SCHEMA):
    """Perturb and write a table as `discreet perturb` does."""
    rng = np.random.default_rng(0)
    X = {"age": rng.uniform(0, 100, 60), "sex": rng.choice(["F", "M", "?"], 60)}
    y = np.where(X["age"] > 50, "yes", "no")
    perturbation = LocalPerturbation(schema, epsilon=epsilon, random_state=seed)
    columns, labels = perturbation.fit_resample(X, y)
    write_table(path, columns, labels)
    return perturbation, columns, labels


def test_a_table_is_read_with_its_guarantee(tmp_path):
    perturbation, columns, labels = write(tmp_path / "p.csv")
    assert save_receipt(perturbation, tmp_path / "p.csv") == receipt_path(tmp_path / "p.csv")
    table = read_perturbed(tmp_path / "p.csv")
    assert table.guarantee == perturbation.guarantee_
    assert table.receipt == perturbation.receipt_
    assert table.schema == SCHEMA
    assert table.y.tolist() == labels.tolist()
    np.testing.assert_allclose(table.X["age"].astype(float), columns["age"])
    model = BeeRules(table.schema, max_iter=20, random_state=0)
    model.fit(table.X, table.y, source_guarantee=table.guarantee, source_receipt=table.receipt)
    direct = BeeRules(SCHEMA, max_iter=20, random_state=0)
    direct.fit(columns, labels, source_guarantee=perturbation.guarantee_)
    assert model.rules_ == direct.rules_
    assert model.guarantee_.holds
    assert model.guarantee_.epsilon == 4


def test_what_voids_a_guarantee_is_still_known_after_reading(tmp_path):
    for changes, reason in (({"seed": 1}, "random_state"), ({"epsilon": float("inf")}, "infinite")):
        perturbation, *_ = write(tmp_path / "p.csv", **changes)
        save_receipt(perturbation, tmp_path / "p.csv")
        guarantee = read_perturbed(tmp_path / "p.csv").guarantee
        assert not guarantee.holds
        assert reason in guarantee.statement()
    draft = SCHEMA.replace(from_data=["age.lower"])
    perturbation, *_ = write(tmp_path / "p.csv", schema=draft)
    save_receipt(perturbation, tmp_path / "p.csv")
    assert not read_perturbed(tmp_path / "p.csv").guarantee.holds


def test_a_table_without_a_receipt_has_no_guarantee(tmp_path):
    write(tmp_path / "p.csv")
    with pytest.raises(FileError, match="no receipt"):
        read_perturbed(tmp_path / "p.csv")
    with pytest.raises(FileError, match="no such file"):
        read_perturbed(tmp_path / "none.csv")


def test_a_receipt_vouches_for_no_other_table(tmp_path):
    perturbation, *_ = write(tmp_path / "p.csv")
    save_receipt(perturbation, tmp_path / "p.csv")
    text = (tmp_path / "p.csv").read_text()
    lines = text.splitlines(keepends=True)
    for other in (text + "50,F,yes\n", text.replace("yes", "no", 1), "".join([lines[0], *sorted(lines[1:])]), lines[0]):
        (tmp_path / "p.csv").write_text(other)
        with pytest.raises(FileError, match="not the table of its receipt"):
            read_perturbed(tmp_path / "p.csv")


def write_table(path, columns, labels):
    lines = zip(*map(as_texts, columns.values()), as_texts(labels), strict=True)
    path.write_text("\n".join([",".join([*columns, "y"]), *map(",".join, lines)]) + "\n")


def test_no_receipt_is_written_for_an_earlier_table(tmp_path):
    """The object knows what the last table cost; the first one, at 40 times the loss, must not get that receipt."""
    perturbation, *_ = write(tmp_path / "first.csv", epsilon=4)
    again = {"age": [10.0, 90.0] * 30, "sex": ["F", "M"] * 30}, ["no", "yes"] * 30
    columns, labels = perturbation.set_params(epsilon="1/10").fit_resample(*again)
    write_table(tmp_path / "second.csv", columns, labels)
    with pytest.raises(ParameterError, match="not the table that was perturbed last; save the receipt of each table"):
        save_receipt(perturbation, tmp_path / "first.csv")
    assert not receipt_path(tmp_path / "first.csv").exists()
    perturbation.set_params(schema=SCHEMA.replace(target="z"))  # a later setting does not change what was perturbed
    save_receipt(perturbation, tmp_path / "second.csv")
    assert read_perturbed(tmp_path / "second.csv").guarantee.epsilon == Fraction(1, 10)


FAILED = "a failed perturbation since"


@pytest.mark.parametrize(
    "change", ["sorted", "edited", "cut", "a column less", "a column more", FAILED, f"a column less and {FAILED}"]
)
def test_no_receipt_is_written_for_a_changed_table(tmp_path, change):
    perturbation, columns, labels = write(tmp_path / "p.csv")
    rows = slice(0, -1) if change == "cut" else np.argsort(columns["age"]) if change == "sorted" else slice(None)
    columns, labels = {name: values[rows] for name, values in columns.items()}, labels[rows].copy()
    if change == "edited":
        labels[0] = "no" if labels[0] == "yes" else "yes"
    if "a column less" in change:
        del columns["sex"]
    if change == "a column more":
        columns["name"] = np.array([f"person {place}" for place in range(len(labels))], dtype=object)
    if FAILED in change:
        with pytest.raises(KeyError):
            perturbation.resample_blocks({}[0] for _ in range(1))
    write_table(tmp_path / "p.csv", columns, labels)
    with pytest.raises(ParameterError, match="not the table that was perturbed last"):
        save_receipt(perturbation, tmp_path / "p.csv")


def test_a_receipt_needs_a_perturbation(tmp_path):
    write(tmp_path / "p.csv")
    with pytest.raises(ParameterError, match="nothing was perturbed yet; call fit_resample"):
        save_receipt(LocalPerturbation(SCHEMA), tmp_path / "p.csv")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("components", [None, 2])
def test_a_table_is_recognised_in_every_kind_of_file(tmp_path, suffix, components, monkeypatch):
    """Values that were not released, unlisted ones and labels that are numbers; blocks of other sizes than written."""
    columns = [Numeric("age", 0.1, 0.7, grid=65_000), Categorical("c", [True, 1.5, " a ", 'b,"', "(unlisted)"])]
    schema = Schema(columns, "y", [0, 1, 2], adjacency="replace-one")
    perturbation = LocalPerturbation(schema, epsilon=6, components=components)
    records = [{"age": 0.01 * place, "c": [True, "1.5", "x", None][place % 4], "y": place % 3} for place in range(80)]
    X, y = perturbation.fit_resample(records)
    texts = {**{name: as_texts(values) for name, values in X.items()}, "y": y.tolist()}
    path, table = tmp_path / f"p.{suffix}", pd.DataFrame(texts)
    if suffix == "parquet":
        table.assign(age=X["age"]).to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    save_receipt(perturbation, path)
    assert read_perturbed(path).guarantee == perturbation.guarantee_


def test_a_receipt_needs_a_table_that_is_there(tmp_path):
    perturbation, *_ = write(tmp_path / "p.csv")
    with pytest.raises(FileError, match="cannot read"):
        save_receipt(perturbation, tmp_path / "none.csv")


DAMAGES = {
    "no schema": lambda c: c.pop("schema"),
    "another schema": lambda c: c["schema"].update(target="z"),
    "schema is a text": lambda c: c.update(schema="x"),
    "no receipt": lambda c: c.pop("receipt"),
    "no charges": lambda c: c["receipt"].update(charges=[]),
    "negative charge": lambda c: c["receipt"]["charges"][0].update(epsilon="-1"),
    "charge is null": lambda c: c["receipt"].update(charges=[None]),
    "add-remove": lambda c: c["receipt"].update(adjacency="add-remove"),
    "no hash of the table": lambda c: c.update(table_sha256=None),
    "newer": lambda c: c.update(version=2),
    "version is a text": lambda c: c.update(version="1"),
    "another format": lambda c: c.update(format="discreet/model"),
}


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_receipt_is_refused(tmp_path, change):
    perturbation, *_ = write(tmp_path / "p.csv")
    path = save_receipt(perturbation, tmp_path / "p.csv")
    content = json.loads(path.read_text())
    del content["hash"]
    change(content)
    path.write_text(json.dumps({**content, "hash": content_hash(content)}))
    with pytest.raises(FileError):
        read_perturbed(tmp_path / "p.csv")


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "NaN", '{"format": "discreet/perturbed-table"}'])
def test_other_files_are_refused(tmp_path, text):
    write(tmp_path / "p.csv")
    receipt_path(tmp_path / "p.csv").write_text(text)
    with pytest.raises(FileError):
        read_perturbed(tmp_path / "p.csv")


def test_every_changed_digit_is_found(tmp_path):
    perturbation, *_ = write(tmp_path / "p.csv")
    path = save_receipt(perturbation, tmp_path / "p.csv")
    original = path.read_text()
    places = [place for place, mark in enumerate(original) if mark.isdigit()]
    for place in places[:: max(1, len(places) // 40)]:
        path.write_text(original[:place] + ("1" if original[place] != "1" else "2") + original[place + 1 :])
        with pytest.raises(DiscreetError):
            read_perturbed(tmp_path / "p.csv")


def test_a_file_of_the_command_line_can_be_vouched_for(tmp_path):
    """What `discreet perturb` writes is read back as it was perturbed; missing values (components) too."""
    schema = SCHEMA.replace(columns=[*SCHEMA.columns, Categorical("site", ["north", "south", 3])])
    schema.save(tmp_path / "schema.json")
    records = draw_records(50, seed=0)
    rows = zip(*(as_texts(np.asarray(records[name], dtype=object)) for name in ("age", "sex", "site")), strict=True)
    (tmp_path / "d.csv").write_text("\n".join(["age,sex,site,y", *(",".join([*row, "yes"]) for row in rows)]) + "\n")
    arguments = [tmp_path / "d.csv", "--schema", tmp_path / "schema.json", "--epsilon", 8, "--components", 2]
    done = CliRunner().invoke(app, ["perturb", *map(str, arguments), "--out", str(tmp_path / "p.csv")])
    assert done.exit_code == 0, done.output
    table = read_perturbed(tmp_path / "p.csv")
    assert len(table.y) == 50
    model = BeeRules(table.schema, max_iter=5).fit(table.X, table.y, source_guarantee=table.guarantee)
    assert model.guarantee_.holds


def test_a_table_whose_labels_are_clear_gets_no_receipt(tmp_path):
    perturbation = LocalPerturbation(SCHEMA, epsilon=4)
    perturbation.fit_transform(
        {name: values for name, values in draw_records(20, seed=1).items() if name in SCHEMA.names}
    )
    (tmp_path / "t.csv").write_text("a\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="labels were not perturbed"):
        save_receipt(perturbation, tmp_path / "t.csv")
    assert not receipt_path(tmp_path / "t.csv").exists()


def test_a_class_that_ends_with_nul_is_published_whole(tmp_path):
    schema = Schema([Categorical("sex", ["F", "M"])], "y", ["no", "yes\0"], adjacency="replace-one")
    perturbation = LocalPerturbation(schema, epsilon=40)
    columns, labels = perturbation.fit_resample([{"sex": "F"}] * 9, ["yes\0"] * 9)
    assert labels.tolist() == ["yes\0"] * 9
    write_table(tmp_path / "p.csv", columns, labels)
    save_receipt(perturbation, tmp_path / "p.csv")
    assert read_perturbed(tmp_path / "p.csv").y.tolist() == ["yes\0"] * 9
