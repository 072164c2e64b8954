"""Snapshots: what a job reads is what was registered, cast as the schema says, and nothing else."""

import stat

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet import Auto, Categorical, NaiveBayes, Numeric, Schema
from discreet.errors import FileError
from discreet.queries.outside import Outside, watching
from discreet.records.encoding import Cells, class_codes
from discreet.schema import Dialect
from discreet.service.snapshots import check_snapshot, keyed_hash, seal, snapshot_path, unlisted_word, write_snapshot
from discreet.sources.file import open_file

SCHEMA = Schema(
    [
        Numeric("age", 0, 100),
        Categorical("sex", ["F", "M"], missing="M"),
        Categorical("code", [1, 2.5, "x", "(unlisted)"]),
        Categorical("flag", [True, False], unlisted=False),
    ],
    target="ill",
    classes=["no", "yes"],
    ignore=["name"],
)
ROWS = """age,sex,code,flag,ill,name
34,F,1,true,no,Ada
-5,M,1.0,TRUE,yes,Ben
1e9,,01,false,yes,Canary-7f3a
inf,f,2.50,0,maybe,Dan
,X,x,1,,Eva
?,"M ",(unlisted),no,no,Fay
7.25,F,CANARY-UNLISTED,,yes,Gus
"""


def written(folder):
    path = folder / "table.csv"
    path.write_text(ROWS)
    part = snapshot_path(folder, 1).with_suffix(".part")
    found = write_snapshot(open_file(path), SCHEMA, part)
    seal(part, snapshot_path(folder, 1))
    return path, snapshot_path(folder, 1), found


def blocks(path):
    (block,) = open_file(path).values(SCHEMA.all_names, SCHEMA.numeric_names)
    return block


def test_codes_of_a_snapshot_are_those_of_its_source(tmp_path):
    source, snapshot, _ = written(tmp_path)
    before, after = blocks(source), blocks(snapshot)
    for name in SCHEMA.names:
        for bins in (None, 2, 7) if name == "age" else (None,):
            cells = Cells(name, bins)
            assert cells.codes(before[name], SCHEMA).tolist() == cells.codes(after[name], SCHEMA).tolist(), name
    watched = watching(SCHEMA)
    for name in SCHEMA.names:
        cells = Outside(name).cells(SCHEMA)
        assert cells.codes(before[name], watched).tolist() == cells.codes(after[name], watched).tolist(), name
    assert class_codes(before["ill"], SCHEMA).tolist() == class_codes(after["ill"], SCHEMA).tolist()


def test_a_snapshot_is_read_in_the_dialect_of_the_schema(tmp_path):
    schema = Schema(
        [Numeric("größe", 0, 300), Categorical("weiß", ["ä", "b"])],
        target="ill",
        classes=["no", "yes"],
        dialect=Dialect(decimal=",", encoding="latin-1"),
    )
    path = tmp_path / "table.csv"
    path.write_bytes("größe;weiß;ill\n1,5;ä;no\n170,25;b;yes\n1.5;ä;yes\n".encode("latin-1"))
    part = snapshot_path(tmp_path, 1).with_suffix(".part")
    found = write_snapshot(open_file(path), schema, part)
    assert pq.read_table(part).to_pydict() == {
        "größe": [1.5, 170.25, None],
        "weiß": ["ä", "b", "ä"],
        "ill": ["no", "yes", "yes"],
    }
    assert found == {"records": 3, "columns": {"größe": {"missing": 1}}}
    seal(part, snapshot_path(tmp_path, 1))
    models = [
        NaiveBayes(schema, epsilon=1, random_state=7).fit_from(open_file(each))
        for each in (path, snapshot_path(tmp_path, 1))
    ]
    first, second = (model.predict_proba([{"größe": 3.5, "weiß": "ä"}]) for model in models)
    assert np.array_equal(first, second)


def test_a_model_of_the_snapshot_is_that_of_the_source(tmp_path):
    source, snapshot, _ = written(tmp_path)
    models = [NaiveBayes(SCHEMA, epsilon=1, random_state=7).fit_from(open_file(path)) for path in (source, snapshot)]
    first, second = (model.predict_proba([{"age": 30, "sex": "F", "code": 1, "flag": True}]) for model in models)
    assert np.array_equal(first, second)


def test_a_snapshot_holds_nothing_that_the_schema_does_not_list(tmp_path):
    _, snapshot, _ = written(tmp_path)
    table = pq.read_table(snapshot)
    assert table.column_names == SCHEMA.all_names
    assert b"anary" not in snapshot.read_bytes().lower()
    assert b"canary" not in repr(table.to_pydict()).lower().encode()
    ages = [age for age in table["age"].to_pylist() if age is not None]
    beside = [-10 / 3, 100 + 10 / 3]  # whatever lay further out, -5, 1e9 and inf, is one of these now
    assert sorted({age for age in ages if not 0 <= age <= 100}) == pytest.approx(beside)


def test_a_look_at_a_snapshot_sees_what_does_not_fit(tmp_path):
    """`auto` looks whether the table fits its schema; clipping to the bounds would hide numbers outside of them."""
    draw = np.random.default_rng(4)
    ages = np.where(draw.random(3000) < 0.8, 4000.0, draw.uniform(0, 100, 3000))
    lines = [f"{age},{'FM'[number % 2]},1,true,{'no' if number % 3 else 'yes'}" for number, age in enumerate(ages)]
    path, snapshot = tmp_path / "table.csv", tmp_path / "snapshot.parquet"
    path.write_text("\n".join(["age,sex,code,flag,ill", *lines]) + "\n")
    schema = SCHEMA.replace(ignore=[], records=3000)
    write_snapshot(open_file(path), schema, snapshot)
    models = [Auto(schema, epsilon=2, random_state=5).fit_from(open_file(each)) for each in (path, snapshot)]
    assert models[0].remarks_ == models[1].remarks_
    assert any("age" in remark for remark in models[0].remarks_)


def test_findings_count_what_did_not_fit(tmp_path):
    *_, found = written(tmp_path)
    assert found["records"] == 7
    assert found["columns"]["age"] == {"missing": 2, "outside": 3}
    assert found["columns"]["ill"] == {"unlisted": 1, "missing": 1}


def test_a_snapshot_cannot_be_changed_unnoticed(tmp_path):
    _, snapshot, _ = written(tmp_path)
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o400
    expected = keyed_hash(snapshot, "key")
    check_snapshot(snapshot, "key", expected)
    assert keyed_hash(snapshot, "other key") != expected
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 1
    snapshot.chmod(0o600)
    snapshot.write_bytes(bytes(content))
    for digest in (expected, None):
        with pytest.raises(FileError, match="not what was registered"):
            check_snapshot(snapshot, "key", digest)
    snapshot.unlink()
    with pytest.raises(FileError, match="cannot read"):
        check_snapshot(snapshot, "key", expected)


def test_the_word_for_unlisted_values_is_no_label():
    assert unlisted_word(["a"]) == "(unlisted)"
    assert unlisted_word(["(unlisted)", "(unlisted)_"]) == "(unlisted)__"
