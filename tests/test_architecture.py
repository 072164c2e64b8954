"""The architecture: imports point one way, one door to the data, nothing optional loaded, public names as listed."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discreet
from discreet.errors import DiscreetError, MissingExtra

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "discreet"
FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__").replace("__init__", ""): path
    for path in sorted(SOURCE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def room(module):
    """The room that a module lies in; "" for `discreet` itself."""
    return module.partition(".")[0]


def layers():
    """The rooms as import-linter holds them, from the top: each is built on those below."""
    (contract,) = (each for each in PROJECT["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    assert contract["exhaustive"]
    return [line.split(" | ") for line in contract["layers"]]


def drawing():
    """The drawing of the rooms in CONTRIBUTING: a name and a description on each line."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (drawn,) = re.findall(r"```rooms\n(.*?)```", text, re.DOTALL)
    return [line.split(maxsplit=1) for line in drawn.splitlines()]


def test_no_module_stands_outside_a_room():
    assert {path.name for path in SOURCE.iterdir() if path.is_file()} == {"__init__.py", "errors.py", "py.typed"}


def test_the_drawing_of_the_rooms_is_true():
    """Its order is the one that import-linter holds; what it says of a room is what the room says of itself."""
    assert [name for name, _ in drawing()] == [name for layer in layers() for name in layer]
    for name, words in drawing():
        assert ast.get_docstring(TREES[name]).splitlines()[0] == words, name


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("models.classifier", "research.report"),
        ("privacy.epsilon", "privacy.ledger.file"),
        ("records.values", "sources.memory"),
        ("models.one_rule", "models.trees.leaves"),
        ("models.classifier", "sources.exact"),
        ("advice.facts", "federated.masks"),
    ],
)
def test_a_wrong_import_breaks_a_contract(importer, imported, tmp_path):
    """The contracts notice what they are for: one import too many, in a copy of the source."""
    shutil.copytree(SOURCE, tmp_path / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / FILES[importer].relative_to(SOURCE.parent)
    path.write_text(path.read_text(encoding="utf-8") + f"\nimport discreet.{imported}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "Broken contracts" in done.stdout, done.stdout


def test_imports_are_absolute():
    levels = {node.level for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert levels == {0}


def test_no_test_imports_another():
    """What tests share lies in tests/support; a module that holds tests is not a library."""
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(part.startswith(("test_", "conftest")) for name in names for part in name.split(".")), path


def test_tests_mirror_the_rooms():
    """A folder of tests is a room, or one of those that cut across: `suites`, `engines` and `support`."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    for folder in folders - {Path(), Path("suites"), Path("engines")}:
        assert (SOURCE / folder).is_dir(), folder
    assert {path.name for path in (ROOT / "tests").glob("test_*.py")} == {
        "test_architecture.py",
        "test_docs.py",
        "test_site.py",
    }


def calls(tree, method):
    """Calls of a method by this name, each with the name of the function around it."""

    def visit(node, function):
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node, function
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    return list(visit(tree, None))


def test_only_the_passage_reads_the_data():
    """`Source.count` and `Source.rows` have two arguments, and `fold` has three. A source may ask itself, or those that
    it is made of, inside these methods."""
    arguments = {"count": 2, "rows": 2, "fold": 3}
    for method, number in arguments.items():
        callers = {
            name
            for name, tree in TREES.items()
            for call, function in calls(tree, method)
            if len(call.args) + len(call.keywords) == number
            and function != method
            and not (room(name) == "sources" and function in arguments)
        }
        assert callers == set(), method
    own = {function for method in arguments for _, function in calls(TREES["doors.passage"], method)}
    assert own == {"count", "rows", "fold"}


def test_values_are_read_for_their_owner_alone():
    """`Records.values` goes round the passage: for `predict`, here and by a model of a service, to mark records, which
    happens inside a door, for the owner's private report of values, and where a worker of the service drafts a schema
    for the owner and writes the snapshot that doors read later. Profiles, drafts of files and reports of values are
    made for the command line."""
    reading = {name for name, tree in TREES.items() for call, _ in calls(tree, "values") if call.args}
    outside = {name for name in reading if room(name) not in ("sources", "research")}
    assert outside == {
        "cli.predict",
        "cli.remote",
        "cli.schema_values",
        "evaluation.accuracy",
        "service.drafts",
        "service.snapshots",
    }
    private = {"discreet.records.profile", "discreet.records.file_drafts", "discreet.records.value_report"}
    importers = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in private and room(name) != "records"
    }
    assert importers == {"cli.schema", "cli.schema_values"}


def test_only_the_passage_charges_and_only_doors_perturb():
    """`papers` go round the doors: they charge infinity, and guarantee nothing."""
    charging = {name for name, tree in TREES.items() if calls(tree, "charge")}
    perturbing = {name for name, tree in TREES.items() if calls(tree, "perturb")}
    assert charging == {"doors.passage"}
    assert {room(name) for name in perturbing} == {"doors", "research"}
    paying = {name for name, tree in TREES.items() for node in ast.walk(tree) if _calls_by_name(node, "pay")}
    assert paying == {"doors.passage", "models.bees.reading", "research.papers.reproduction"}


def _calls_by_name(node, name):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def test_receipts_are_written_by_the_passage_or_vouch_for_no_reading():
    """A receipt made elsewhere is that of other parties' answers, of a simulation, or of records in the clear."""
    making = {name for name, tree in TREES.items() for node in ast.walk(tree) if _calls_by_name(node, "Receipt")}
    assert making == {
        "doors.passage",
        "privacy.receipt",
        "federated.aggregator",
        "federated.simulate",
        "models.bees.reading",
    }


def test_rows_of_trees_stay_inside_their_door():
    """The records that a tree is grown on are named in the door's own modules alone."""
    users = {name for name in FILES if "tree_rows import TreeRows" in FILES[name].read_text(encoding="utf-8")}
    assert {room(name) for name in users} == {"doors"}


def test_randomness_has_one_home():
    """Noise, that is; keys of cookies, tokens and requests are drawn where they are made. The auditor's runner seeds
    the generators of the targets that it runs, and its replay watches them."""
    homes = ("privacy.randomness", "audit.runner", "audit.inside.samplers")
    for name, tree in TREES.items():
        if name in homes or room(name) in ("service", "client"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "random":
                assert not (isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")), name
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(each.split(".")[0] in ("random", "secrets") for each in modules), name
            assert not any(each.startswith("numpy.random") for each in modules), name


def test_nothing_is_printed_outside_the_command_line():
    for name, tree in TREES.items():
        if room(name) != "cli":
            printed = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "print"]
            assert not printed, name


def test_nothing_is_evaluated_or_unpickled():
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                assert getattr(node.func, "id", "") not in ("eval", "exec", "compile"), name
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & {"pickle", "joblib", "marshal", "shelve"}, name


@pytest.mark.parametrize("module", FILES)
def test_every_module_and_public_name_is_described(module):
    tree = TREES[module]
    assert ast.get_docstring(tree), module
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{module}.{node.name}"


def test_no_file_is_longer_than_the_rule_allows():
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    assert max(lengths.values()) <= 400, max(lengths, key=lengths.get)


def run(code):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout.split()


OPTIONAL = {
    "adbc_driver_postgresql",
    "alembic",
    "cryptography",
    "duckdb",
    "flwr",
    "matplotlib",
    "numba",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow",
    "pyspark",
    "python_calamine",
    "opendp",
    "sqlalchemy",
}


def test_importing_discreet_loads_nothing_optional():
    loaded = set(run("import sys, discreet; print(*{name.partition('.')[0] for name in sys.modules})"))
    assert not loaded & (OPTIONAL | {"sklearn", "scipy", "typer", "rich"})
    assert "discreet" in loaded


def test_the_model_loads_nothing_optional_either():
    """Beyond what scikit-learn itself loads, which may be pandas."""
    show = "print(*{name.partition('.')[0] for name in sys.modules})"
    theirs = set(run(f"import sys, sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass; {show}"))
    loaded = set(run(f"import sys; from discreet import *; {show}"))
    assert not (loaded - theirs) & (OPTIONAL | {"typer", "rich"})
    assert not loaded & {"cryptography", "duckdb", "flwr", "matplotlib", "numba", "opendp", "psycopg"}


def test_public_names_are_exactly_those_listed():
    assert discreet.__all__ == sorted(discreet.__all__)
    assert dir(discreet) == discreet.__all__
    assert {*discreet._HOMES, *discreet._ROOMS} == set(discreet.__all__)
    for name, home in discreet._HOMES.items():
        assert getattr(discreet, name) is getattr(importlib.import_module(home), name)
    for name in discreet._ROOMS:
        assert getattr(discreet, name) is importlib.import_module(f"discreet.{name}")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = discreet.nothing
    typed = [node for node in ast.walk(TREES[""]) if isinstance(node, ast.ImportFrom)]
    assert set(discreet.__all__) <= {alias.name for node in typed for alias in node.names}


@pytest.mark.parametrize("name", [*discreet._ROOMS, "evaluate", "Guarantee", "NaiveBayes", "open_file"])
def test_public_names_need_no_second_import(name):
    """`import discreet` and a dot are enough, in a fresh interpreter."""
    assert run(f"import discreet; print(discreet.{name} is not None)") == ["True"]


def test_the_version_is_written_once():
    """The package says it; the build reads it there, and what cannot read it agrees."""
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"] == {"path": "src/discreet/__init__.py"}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", changes, re.MULTILINE)[0] == discreet.__version__
    assert f"version: {discreet.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_a_release_is_checked_on_every_python_that_it_is_for():
    """`make test` runs on the oldest, `make release-check` has all other sessions of noxfile.py."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    (pythons,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYTHONS"
    )
    named = "Programming Language :: Python :: 3."
    told = [each.removeprefix(named) for each in PROJECT["project"]["classifiers"] if each.startswith(named)]
    assert pythons == [f"3.{minor}" for minor in told]
    sessions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list}
    wanted = {f"tests-{python}" for python in pythons[1:]} | sessions - {"tests", "constraints"}
    (chosen,) = re.findall(r"^SESSIONS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(chosen.split()) == wanted


def test_every_error_of_ours_is_a_discreet_error():
    """What `errors.py` defines, and what is raised by name elsewhere."""
    own = {name for name, value in vars(importlib.import_module("discreet.errors")).items() if isinstance(value, type)}
    for name in own:
        assert issubclass(getattr(importlib.import_module("discreet.errors"), name), DiscreetError)
    homes = ("discreet.service.errors", "discreet.service.problems", "discreet.client.refusals")
    for home in (*homes, "discreet.audit.runner", "discreet.audit.workers"):  # these two never leave the auditor
        found = ast.walk(TREES[home.removeprefix("discreet.")])
        own |= {node.name for node in found if isinstance(node, ast.ClassDef)}
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                raised = node.exc.func.id
                builtin = ("ValueError", "TypeError", "KeyError", "AttributeError")
                made_by_a_function = raised.islower()
                known = raised in own or raised in builtin or made_by_a_function or room(module) == "cli"
                assert known, f"{module} raises {raised}"


@pytest.mark.parametrize(
    "extra", ["accounts", "duckdb", "excel", "federated", "flower", "parquet", "plot", "postgres", "spark"]
)
def test_a_missing_extra_is_an_import_error_that_says_what_to_install(extra):
    error = MissingExtra(extra)
    assert isinstance(error, ImportError)
    assert f"pip install 'discreet[{extra}]'" in str(error)
