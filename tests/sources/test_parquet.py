"""Parquet files: one or many, of any shape, in several threads, interrupted, and changed behind our back."""

import _thread
import base64
import os
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.parquet import encryption

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema, open_file
from discreet.errors import DataError, FileError
from discreet.records.encoding import Cells
from discreet.records.parquet import parquet_blocks
from discreet.records.parquet_pages import ColumnPages
from discreet.records.parquet_runs import write_runs
from discreet.sources import arrow_blocks, kernels, parquet, workers
from discreet.sources.memory import MemorySource
from discreet.sources.parquet import ParquetSource
from support.hostile import undecodable

SCHEMA = Schema([Categorical("c", ["a", "b"], missing="b"), Numeric("n", 0, 4, fill=3)], "y", ["no", "yes"])
CELLS = [Cells("c"), Cells("n", 7), Cells("n")]


def table_of(rows, seed=0):
    generator = np.random.default_rng(seed)
    return pa.table(
        {
            "c": pa.array(generator.choice(["a", "b", "zzz"], rows), mask=generator.random(rows) < 0.1),
            "n": pa.array(generator.normal(2, 2, rows), mask=generator.random(rows) < 0.1),
            "y": pa.array(generator.choice(["no", "yes", "?"], rows)),
        }
    )


def counts(source):
    source.check(SCHEMA)
    counted = source.count(CELLS, SCHEMA).counts
    return [counted[each].tolist() for each in CELLS]


def codes(source):
    blocks = list(source.rows(CELLS, SCHEMA))
    rows = [np.stack([*(block.codes[each] for each in CELLS), block.labels], axis=1) for block in blocks]
    return np.concatenate(rows).tolist() if rows else []


class Cubes:
    """A task."""

    size = 4

    def __call__(self, block):
        return np.bincount(block.labels, weights=block.codes[CELLS[1]].astype(float) ** 3, minlength=4).astype(np.int64)


@pytest.mark.parametrize("rows", [0, 1, 999, 5000])
@pytest.mark.parametrize("group", [100, 1000, 10_000])
@pytest.mark.parametrize("encoding", ["dictionary", "plain"])
def test_row_groups_of_any_size_are_counted(tmp_path, rows, group, encoding):
    table = table_of(rows)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=group, use_dictionary=encoding == "dictionary")
    source, memory = ParquetSource(tmp_path / "t.parquet"), MemorySource(table)
    assert counts(source) == counts(memory)
    assert codes(source) == codes(memory)  # in the order of the file
    assert source.fold(CELLS, SCHEMA, Cubes()).tolist() == memory.fold(CELLS, SCHEMA, Cubes()).tolist()
    assert repr(source) == "ParquetSource(values hidden)"


def write_parts(folder, tables):
    folder.mkdir(exist_ok=True)
    for place, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{place}.parquet", row_group_size=300)


@pytest.mark.parametrize("name", ["data", "data/*.parquet", "data/part-?.parquet", "d*/*[0-9].parquet"])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_folder_or_a_pattern_is_one_table(tmp_path, monkeypatch, name, absolute):
    monkeypatch.chdir(tmp_path)
    tables = [table_of(700, seed) for seed in range(3)]
    write_parts(tmp_path / "data", tables)
    (tmp_path / "data" / "_SUCCESS").touch()
    (tmp_path / "data" / ".hidden.parquet").write_bytes(b"x")
    if "*.p" in name:
        (tmp_path / "data" / ".hidden.parquet").unlink()
    path = tmp_path / name if absolute else name
    whole = MemorySource(pa.concat_tables(tables))
    assert counts(open_file(path)) == counts(whole)
    assert codes(open_file(path)) == codes(whole)


def test_a_list_that_changes_is_refused(tmp_path):
    tables = [table_of(100, seed) for seed in range(3)]
    write_parts(tmp_path / "data", tables)
    for change in ("added", "removed", "columns"):
        source, ledger = open_file(tmp_path / "data"), Ledger(1)
        source.check(SCHEMA)
        if change == "added":
            pq.write_table(tables[0], tmp_path / "data" / "part-9.parquet")
        elif change == "removed":
            os.remove(tmp_path / "data" / "part-9.parquet")
        else:
            wider = pa.schema([("c", pa.large_string()), ("n", pa.float64()), ("y", pa.string())])
            pq.write_table(tables[1].cast(wider), tmp_path / "data" / "part-1.parquet")
        with pytest.raises(
            FileError, match=r"the list of files, or their columns, changed|does not have the columns of"
        ):
            source.count(CELLS, SCHEMA)
        assert ledger.spent == 0


def test_files_that_are_not_alike_are_refused_before_a_charge(tmp_path):
    base = table_of(10)
    others = {
        "type": base.set_column(1, "n", pa.array(["1"] * 10)),
        "missing": base.drop_columns(["n"]),
        "more": base.append_column("z", pa.array([1] * 10)),
    }
    for name, other in others.items():
        folder = tmp_path / name
        write_parts(folder, [base, other])
        ledger = Ledger(1)
        with pytest.raises(FileError, match=r"part-1\.parquet does not have the columns of .*: column '[nz]'"):
            NaiveBayes(SCHEMA).fit_from(open_file(folder), ledger=ledger)
        assert ledger.spent == 0
    write_parts(tmp_path / "turned", [base, base.select(["y", "c", "n"])])
    assert counts(open_file(tmp_path / "turned")) == counts(MemorySource(pa.concat_tables([base, base])))


def test_folders_and_patterns_without_files_are_refused(tmp_path):
    (tmp_path / "year=2024").mkdir()
    pq.write_table(table_of(3), tmp_path / "year=2024" / "a.parquet")
    with pytest.raises(FileError, match=r"is a folder without \.parquet files.*Folders inside it are not read"):
        open_file(tmp_path)
    with pytest.raises(FileError, match="no file has such a name"):
        open_file(tmp_path / "*.parquet")
    (tmp_path / "a.csv").write_text("c,n,y\n")
    with pytest.raises(FileError, match=r"also names a\.csv, which is not \.parquet"):
        open_file(tmp_path / "*.csv")
    assert counts(open_file(tmp_path / "*" / "*.parquet")) == counts(MemorySource(table_of(3)))
    with pytest.raises(DataError, match="column 'year' of the schema is missing"):
        open_file(tmp_path / "year=2024").check(Schema([Numeric("year", 0, 1)], "y", ["no"], ignore=["c", "n"]))


def test_an_empty_list_is_refused():
    with pytest.raises(FileError, match="need at least one Parquet file"):
        ParquetSource([])


def test_a_file_that_is_not_there_or_not_readable_is_named_so(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="No such file or directory; check the path"):
        ParquetSource(tmp_path / "t.parquet").columns()

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pa, "OSFile", denied)
    with pytest.raises(FileError, match="Permission denied; check the path"):
        ParquetSource(tmp_path / "t.parquet").columns()


def test_where_arrow_fails_the_rest_is_read_in_another_way(tmp_path, monkeypatch):
    """As with more than two gigabytes of distinct texts in a batch: no record is counted twice or left out."""
    table = table_of(5000)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2500)
    original = parquet.Part.batches

    def failing(self, rows, names, dictionaries, *, helped):
        rows = 700 if dictionaries else rows  # so that the failure is in the middle of a batch of the second attempt
        for place, batch in enumerate(original(self, rows, names, dictionaries, helped=helped)):
            if dictionaries and self.group == 1 and place == 2:
                raise pa.ArrowCapacityError("the secret value 12345")
            yield batch

    monkeypatch.setattr(parquet.Part, "batches", failing)
    monkeypatch.setattr(parquet, "FEW", 64)
    source = ParquetSource(tmp_path / "t.parquet")
    assert codes(source) == codes(MemorySource(table))
    assert counts(source) == counts(MemorySource(table))


def test_a_file_that_breaks_off_fails_closed_and_quotes_nothing(tmp_path):
    pq.write_table(
        table_of(5000), tmp_path / "t.parquet", row_group_size=1000, compression="none", use_dictionary=False
    )
    raw = bytearray((tmp_path / "t.parquet").read_bytes())
    raw[1000:20_000] = b"\xff" * 19_000  # the end of the file, which tells the columns, is whole
    (tmp_path / "t.parquet").write_bytes(raw)
    ledger = Ledger(1)
    with pytest.raises(FileError) as caught:
        NaiveBayes(SCHEMA, epsilon=1).fit_from(open_file(tmp_path / "t.parquet"), ledger=ledger)
    assert str(caught.value) == "a file cannot be read as Parquet; check that it is whole and free memory"
    assert caught.value.__context__ is None
    assert ledger.spent > 0


def test_texts_that_arrow_takes_for_bytes_are_texts(tmp_path):
    """Parquet's ENUM. pyarrow cannot write one, DuckDB can't either: the type of a column is changed in the file."""
    table = table_of(50)
    pq.write_table(table, tmp_path / "t.parquet")
    fields = parquet.parquet_fields(tmp_path / "t.parquet")
    raw = parquet.ParquetFields({**fields.types, "c": pa.binary()}, frozenset({"c"}))
    binary = table.set_column(0, "c", table["c"].cast(pa.binary()))
    pq.write_table(binary, tmp_path / "t.parquet")
    source = ParquetSource(tmp_path / "t.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "parquet_fields", lambda path: raw)
        assert counts(source) == counts(MemorySource(table))
    assert counts(ParquetSource(tmp_path / "t.parquet")) == counts(MemorySource(binary))


def test_how_far_a_pass_has_come_is_told(tmp_path):
    pq.write_table(table_of(1000), tmp_path / "t.parquet", row_group_size=100)
    told = []
    source = open_file(tmp_path / "t.parquet")
    source.told = lambda done, of: told.append((done, of))
    source.count(CELLS, SCHEMA)
    assert told == [(100 * done, 1000) for done in range(1, 11)]


def test_an_interruption_ends_all_threads_at_once():
    before = threading.active_count()
    started = threading.Event()

    def work(parts, check):
        for _ in parts:
            started.set()
            while True:
                check()
                time.sleep(0.01)

    def interrupt():
        started.wait(5)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        workers.share_out(range(100), work, 2)
    assert time.perf_counter() - begin < 2
    assert threading.active_count() <= before + 1


def test_the_first_error_of_a_thread_is_raised_and_stops_the_others():
    stopped = []

    def work(parts, check):
        for part in parts:
            if part == 3:
                raise ValueError("three")
            try:
                while True:
                    check()
                    time.sleep(0.001)
            except workers.Stopped:
                stopped.append(part)
                raise

    with pytest.raises(ValueError, match="three"):
        workers.share_out([1, 3], work, 2)
    assert stopped == [1]
    assert workers.share_out(range(10), lambda parts, check: sum(parts), 1) == [45]


def test_bad_text_in_one_row_group_concerns_its_own_record_alone(tmp_path):
    columns = {"c": ["a", "b", "c"] * 50, "n": ["1", "2", "x"] * 50, "y": ["no", "yes", "?"] * 50}
    mixed = {name: [*values[:77], b"\xff", *values[77:]] for name, values in columns.items()}
    table = pa.table({name: undecodable(values) for name, values in mixed.items()})
    for dictionary in (True, False):
        pq.write_table(table, tmp_path / "t.parquet", row_group_size=40, use_dictionary=dictionary)
        assert counts(open_file(tmp_path / "t.parquet")) == counts(MemorySource(table))


class OpenKeys(encryption.KmsClient):
    """Keys that are not secret."""

    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key, _):
        return base64.b64encode(key)

    def unwrap_key(self, key, _):
        return base64.b64decode(key)


@pytest.mark.parametrize("plain", [True, False])
def test_encrypted_files_are_refused_before_a_charge(tmp_path, plain):
    table, path, ledger = table_of(20), tmp_path / "t.parquet", Ledger(1)
    factory = encryption.CryptoFactory(OpenKeys)
    wanted = encryption.EncryptionConfiguration(footer_key="k", column_keys={"c": ["c"]}, plaintext_footer=plain)
    keys = factory.file_encryption_properties(encryption.KmsConnectionConfig(), wanted)
    with pq.ParquetWriter(path, table.schema, encryption_properties=keys) as writer:
        writer.write_table(table)
    with pytest.raises(FileError, match="without encryption" if plain else "check that the file is whole"):
        NaiveBayes(SCHEMA, epsilon=1).fit_from(ParquetSource(path), ledger=ledger)
    assert ledger.spent == 0


KINDS = [pa.float32(), pa.float64(), pa.int8(), pa.uint16(), pa.int64(), pa.bool_(), pa.decimal128(22, 1), pa.string()]


@pytest.mark.parametrize("target", ["text", "number"])
@pytest.mark.parametrize("most", [150, 1 << 17])
@pytest.mark.parametrize("values", [1, 500, 1000, 1 << 21])
def test_columns_of_every_kind_are_read_block_by_block(tmp_path, monkeypatch, target, most, values):
    """With `most` records in a batch, so that row groups are read whole, or not; and one column at a time, or more."""
    monkeypatch.setattr(parquet, "BATCH", most)
    monkeypatch.setattr(parquet, "VALUES", values)
    monkeypatch.setattr(parquet, "BLOCK", values)
    generator, columns = np.random.default_rng(3), {}
    for place, kind in enumerate(KINDS):
        plain = pa.array(
            generator.integers(0, 2 if pa.types.is_boolean(kind) else 9, 1000), mask=generator.random(1000) < 0.2
        )
        columns[f"x{place}"] = plain.cast(kind)
    table = pa.table({**columns, "y": pa.array(generator.integers(0, 3, 1000)).cast(pa.string())})
    if target == "number":
        table = table.set_column(len(KINDS), "y", table["y"].cast(pa.int32()))
    schema = Schema([Numeric(name, 0, 7, fill=2) for name in columns], "y", ["0", "1"])
    cells = [Cells(name, bins) for name in columns for bins in (3, None)]
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=200)
    found = ParquetSource(tmp_path / "t.parquet").count(cells, schema).counts
    expected = MemorySource(table).count(cells, schema).counts
    assert all(np.array_equal(found[each], expected[each]) for each in cells)


def test_a_column_that_cannot_be_read_after_others_were_counted_fails_closed(tmp_path, monkeypatch):
    pq.write_table(table_of(1000), tmp_path / "t.parquet", row_group_size=200)
    monkeypatch.setattr(parquet, "VALUES", 1)
    monkeypatch.setattr(parquet, "BLOCK", 1)
    read = parquet.Part.read
    failed = []

    def failing(part, file, rows, names, *, helped):
        if names == ["n"]:
            failed.append(part.group)
            raise pa.ArrowInvalid("secret")
        return read(part, file, rows, names, helped=helped)

    monkeypatch.setattr(parquet.Part, "read", failing)
    with pytest.raises(FileError, match="cannot be read as Parquet") as caught:
        counts(ParquetSource(tmp_path / "t.parquet"))
    assert failed
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("values", [1, 1 << 21])
def test_texts_that_come_in_pieces_are_counted_once(tmp_path, monkeypatch, values):
    """Arrow may cut a batch where the dictionary of a column ends."""
    monkeypatch.setattr(parquet, "VALUES", values)
    monkeypatch.setattr(parquet, "BLOCK", values)
    table = table_of(1000)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=200)
    read = parquet.Part.read

    def cut(part, file, rows, names, *, helped):
        for batch in read(part, file, rows, names, helped=helped):
            yield batch.slice(0, 70)
            yield batch.slice(70)

    monkeypatch.setattr(parquet.Part, "read", cut)
    assert counts(ParquetSource(tmp_path / "t.parquet")) == counts(MemorySource(table))


def test_a_dictionary_that_grows_is_encoded_once(tmp_path, monkeypatch):
    """pyarrow adds texts to a dictionary from batch to batch where a page has none of its own."""
    encoded = []
    original = arrow_blocks._encoder

    def encoder(cells, schema):
        encode = original(cells, schema)
        return lambda values: (encoded.append(len(values)), encode(values))[1]

    monkeypatch.setattr(arrow_blocks, "_encoder", encoder)
    monkeypatch.setattr(parquet, "BATCH", 500)
    generator = np.random.default_rng(5)
    words = [f"w{word}" for word in generator.integers(0, 4000, 3000)]
    table = table_of(3000).set_column(0, "c", pa.array(words, mask=generator.random(3000) < 0.1))
    schema = Schema([Categorical("c", sorted(set(words[:900:3])), missing=words[0]), SCHEMA["n"]], "y", ["no", "yes"])
    pq.write_table(table, tmp_path / "t.parquet", dictionary_pagesize_limit=2000, write_batch_size=100)
    cells = [Cells("c")]
    found = ParquetSource(tmp_path / "t.parquet").count(cells, schema).counts
    expected = MemorySource(table).count(cells, schema).counts
    assert np.array_equal(found[cells[0]], expected[cells[0]])
    assert len(encoded) > 2
    assert sum(encoded) < 3000


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("values", [1, 1 << 21])
def test_threads_count_in_turn(tmp_path, monkeypatch, threads, values):
    """As many count at once as there are pairs of threads, also while columns of a batch are still to be read; a turn
    is over after an error, too."""
    pq.write_table(table_of(3000), tmp_path / "t.parquet", row_group_size=100)
    monkeypatch.setattr(parquet, "VALUES", values)
    monkeypatch.setattr(parquet, "BLOCK", values)
    monkeypatch.setattr(parquet, "processors", lambda: threads)
    counting, most, original = [], [], arrow_blocks.JointCounter.add_places

    def add_places(*given):
        counting.append(1)
        most.append(len(counting))
        time.sleep(0.001)
        counting.pop()
        return original(*given)

    monkeypatch.setattr(arrow_blocks.JointCounter, "add_places", add_places)
    assert counts(ParquetSource(tmp_path / "t.parquet")) == counts(MemorySource(table_of(3000)))
    assert max(most) == max(threads // 2, 1)

    def failing(*_):
        raise ValueError("failed")

    monkeypatch.setattr(arrow_blocks.JointCounter, "add_places", failing)
    with pytest.raises(ValueError, match="failed"):
        counts(ParquetSource(tmp_path / "t.parquet"))


@pytest.fixture(autouse=True)
def by_numpy(monkeypatch):
    """Where numba is installed, too: one test would compile the loops for all that follow."""
    monkeypatch.setattr(kernels, "kernels", lambda batches: None)


@pytest.fixture
def loops(monkeypatch, by_numpy):
    """The loops as Python runs them: what a source does is the same when they are compiled."""
    found = kernels.Kernels(kernels._add_numbers, kernels._add_places, write_runs)
    monkeypatch.setattr(kernels, "kernels", lambda batches: found)


def floats_of(rows):
    generator = np.random.default_rng(2)
    columns = {f"x{place}": generator.normal(size=rows).astype(kind) for place, kind in enumerate(("f8", "f4", "f8"))}
    columns["i"] = generator.integers(-9, 9, rows)
    return pa.table({**columns, **dict(zip("cny", table_of(rows).columns, strict=True))})


FLOATS = Schema([*(Numeric(name, -2, 2) for name in ("x0", "x1", "x2", "i")), *SCHEMA.columns], "y", ["no", "yes"])
FINE = [Cells(name, bins) for name in ("x0", "x1", "x2", "i", "n") for bins in (5, None)]


@pytest.mark.parametrize("values", [1, 1 << 21])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dictionary", [["c", "y", "i"], True])
def test_columns_straight_from_the_file_are_counted_as_all_others(
    tmp_path, monkeypatch, loops, values, threads, dictionary
):
    """Some columns of some row groups are taken straight from the file, and what is left over is read by pyarrow."""
    monkeypatch.setattr(parquet, "VALUES", values)
    monkeypatch.setattr(parquet, "BLOCK", values)
    monkeypatch.setattr(parquet, "processors", lambda: threads)
    original, taken = ColumnPages.read, []

    def read(pages, name, *, kept):
        taken.append((original(pages, name, kept=kept) is not None, kept))
        return original(pages, name, kept=kept) if len(taken) % 5 else None

    monkeypatch.setattr(ColumnPages, "read", read)
    table, cells = floats_of(700), [Cells("c"), *FINE]
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100, use_dictionary=dictionary)
    found = ParquetSource(tmp_path / "t.parquet").count(cells, FLOATS).counts
    expected = MemorySource(table).count(cells, FLOATS).counts
    assert all(np.array_equal(found[each], expected[each]) for each in cells)
    assert {(True, True), (True, False)} <= set(taken)


def test_damaged_pages_fail_in_the_same_words(tmp_path, loops):
    pq.write_table(floats_of(700), tmp_path / "t.parquet", use_dictionary=["c", "y"], row_group_size=100)
    chunk = pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(3).column(0)
    raw = bytearray((tmp_path / "t.parquet").read_bytes())
    raw[chunk.data_page_offset : chunk.data_page_offset + 30] = b"\xff" * 30
    (tmp_path / "t.parquet").write_bytes(raw)
    with pytest.raises(FileError) as caught:
        ParquetSource(tmp_path / "t.parquet").count(FINE, FLOATS)
    assert str(caught.value) == "a file cannot be read as Parquet; check that it is whole and free memory"
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kept", [True, False])
def test_places_outside_a_dictionary_fail(tmp_path, request, compiled, kept):
    """pyarrow gives such places as they are; the loops would read outside their table."""
    if compiled:
        request.getfixturevalue("loops")
    table = pa.table({"c": ["a", "b", "c", "a"] * 50, "n": [0.5, 1.5, 2.5, 0.5] * 50, "y": ["yes", "no"] * 100})
    pq.write_table(table, tmp_path / "t.parquet", compression="none", row_group_size=100)
    chunk = pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(1).column(0 if kept else 1)
    raw = bytearray((tmp_path / "t.parquet").read_bytes())
    raw[chunk.dictionary_page_offset + chunk.total_compressed_size - 2] = 255
    (tmp_path / "t.parquet").write_bytes(raw)
    with pytest.raises(FileError, match="check that"):
        counts(ParquetSource(tmp_path / "t.parquet"))


def shortened(path):
    """Pages of 1,000 records of which one byte is damaged: pyarrow gives none of them, and no error."""
    table = pa.table({"age": pa.array(range(1000), pa.float64()), "ill": pa.array(["yes", "no"] * 500)})
    pq.write_table(table, path, use_dictionary=False, compression="none", data_page_size=1000)
    whole = path.read_bytes()
    for place in range(4, 64):
        path.write_bytes(bytes([*whole[:place], whole[place] ^ 1, *whole[place + 1 :]]))
        try:
            if sum(len(each) for each in pq.ParquetFile(path).iter_batches(columns=["age"])) == 0:
                return
        except (OSError, pa.ArrowInvalid):
            pass
    raise AssertionError


@pytest.mark.parametrize("rows", [10, 100_000])
def test_a_column_that_ends_early_is_an_error_and_not_an_empty_table(tmp_path, rows):
    path, schema = tmp_path / "short.parquet", Schema([Numeric("age", 0, 1000)], "ill", ["yes", "no"], records=1000)
    shortened(path)
    ledger = Ledger(1)
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        NaiveBayes(schema, epsilon=1).fit_from(open_file(path), ledger=ledger)
    assert ledger.remaining == 0
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        list(parquet_blocks(path, rows, ["age"]))


def test_loops_are_compiled_for_long_passes_that_count_alone(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(kernels, "kernels", asked.append)
    monkeypatch.setattr(parquet, "BATCH", 100)
    monkeypatch.setattr(parquet, "processors", lambda: 2)
    pq.write_table(table_of(1000), tmp_path / "t.parquet", row_group_size=100)
    codes(ParquetSource(tmp_path / "t.parquet"))
    assert not asked
    counts(ParquetSource(tmp_path / "t.parquet"))
    assert asked[0] == 5
