"""The architecture: imports point one way, one door to the data, nothing optional loaded, public names as listed."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import DiscreetError, MissingExtra

SOURCE = Path(discreet.__file__).parent
FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__").replace("__init__", ""): path
    for path in sorted(SOURCE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}

ORDER = [
    "errors",
    "writing",
    "columns",
    "schema",
    "encoding",
    "values",
    "tables",
    "trees",
    "hyperplanes",
    "queries",
    "budget",
    "exponential_coins",
    "negative_binomial",
    "randomness",
    "smooth_sensitivity",
    "mechanisms",
    "plan",
    "statistics",
    "sources.sql",
    "csv_lines",
    "csv_columns",
    "files",
    "sources",
    "doors",
    "guarantee",
    "local_perturbation",
    "perturbed_table",
    "explanation",
    "drafting",
    "datasets",
    "model_file",
    "bees",
    "models",
    "evaluation",
    "federated",
    "audit",
    "papers",
    "report",
    "comparison",
    "reproduce",
    "advice",
    "cli",
    "",
]
"""A module imports only what stands above it. A package stands for its modules; "" is `discreet` itself."""

EXCEPTIONS = {("model_file", "models")}
"""Imported inside a function: a file names its family, which is looked up when it is read."""


def layer(module):
    """The longest entry of ORDER that the module belongs to."""
    while module not in ORDER:
        module = module.rpartition(".")[0]
    return module


def imports(tree):
    """Modules of discreet that a tree imports, submodules resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "discreet":
            package = node.module.removeprefix("discreet").removeprefix(".")
            for alias in node.names:
                submodule = f"{package}.{alias.name}".removeprefix(".")
                yield submodule if submodule in FILES else package
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "discreet":
                    yield alias.name.removeprefix("discreet").removeprefix(".")


def test_every_module_has_a_place():
    assert {layer(module) for module in FILES} == set(ORDER)


@pytest.mark.parametrize("module", [name for name in FILES if name])
def test_imports_point_one_way(module):
    own = layer(module)
    for imported in imports(TREES[module]):
        other = layer(imported)
        if other in (own, "") and imported in FILES and (imported or own == "cli"):
            continue
        if (own, other) not in EXCEPTIONS:
            assert ORDER.index(other) < ORDER.index(own), f"{module} imports {imported}"


def test_imports_have_no_circle():
    """Modules, not layers: what is imported at the top of a file can be put in an order."""
    graph = {
        name: {
            imported
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for imported in imports(ast.Module([node], []))
            if imported and imported != name.rpartition(".")[0]
        }
        for name, tree in TREES.items()
        if name
    }
    while graph:
        free = [name for name, needed in graph.items() if not needed & graph.keys() - {name}]
        assert free, f"a circle among {sorted(graph)}"
        for name in free:
            del graph[name]


def test_only_papers_and_the_command_line_import_papers():
    users = {layer(name) for name, tree in TREES.items() for imported in imports(tree) if layer(imported) == "papers"}
    assert users <= {"papers", "reproduce", "cli"}


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
    """`Source.count` and `Source.rows` have two arguments. A source made of sources may ask them inside its own."""
    for method in ("count", "rows"):
        callers = {
            name
            for name, tree in TREES.items()
            for call, function in calls(tree, method)
            if len(call.args) + len(call.keywords) == 2 and function != method
        }
        assert callers == set(), method
    own = {function for method in ("count", "rows") for _, function in calls(TREES["doors.passage"], method)}
    assert own == {"count", "rows"}


def test_only_the_passage_charges_and_only_doors_perturb():
    """`papers` go round the doors: they charge infinity, and guarantee nothing."""
    charging = {name for name, tree in TREES.items() if calls(tree, "charge")}
    perturbing = {name for name, tree in TREES.items() if calls(tree, "perturb")}
    assert charging == {"doors.passage"}
    assert {layer(name) for name in perturbing} == {"doors", "papers"}
    paying = {name for name, tree in TREES.items() for node in ast.walk(tree) if _calls_by_name(node, "pay")}
    assert paying == {"doors.passage", "bees.reading", "papers.reproduction"}


def _calls_by_name(node, name):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def test_receipts_are_written_by_the_passage_or_vouch_for_no_reading():
    """A receipt made elsewhere is that of other parties' answers, of a simulation, or of records in the clear."""
    making = {name for name, tree in TREES.items() for node in ast.walk(tree) if _calls_by_name(node, "Receipt")}
    assert making == {
        "doors.passage",
        "statistics",
        "federated.aggregator",
        "federated.simulate",
        "bees.reading",
    }


def test_rows_of_trees_stay_inside_their_door():
    """The records that a tree is grown on are named in the door's own modules alone."""
    users = {name for name in FILES if "tree_records import Records" in FILES[name].read_text(encoding="utf-8")}
    assert {layer(name) for name in users} == {"doors"}


def test_exact_statistics_are_known_on_the_private_side_only():
    users = {
        layer(name)
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "ExactStatistics"
    }
    assert users <= {"statistics", "sources", "doors", "cli"}
    models = [name for name in FILES if layer(name) in ("models", "guarantee", "model_file", "explanation")]
    for name in models:
        assert "ExactStatistics" not in FILES[name].read_text(encoding="utf-8"), name


def test_randomness_has_one_home():
    for name, tree in TREES.items():
        if name == "randomness":
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
        if layer(name) != "cli":
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


OPTIONAL = {"cryptography", "duckdb", "flwr", "matplotlib", "pandas", "polars", "pyarrow", "opendp"}


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
    assert not loaded & {"cryptography", "duckdb", "flwr", "matplotlib", "opendp"}


def test_public_names_are_exactly_those_listed():
    assert discreet.__all__ == sorted(discreet.__all__)
    assert dir(discreet) == discreet.__all__
    assert set(discreet._HOMES) == set(discreet.__all__)
    for name in discreet.__all__:
        assert getattr(discreet, name) is getattr(importlib.import_module(discreet._HOMES[name]), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = discreet.nothing
    typed = [node for node in ast.walk(TREES[""]) if isinstance(node, ast.ImportFrom)]
    assert set(discreet.__all__) <= {alias.name for node in typed for alias in node.names}


def test_the_version_is_that_of_the_project():
    text = (SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{discreet.__version__}"' in text


def test_every_error_of_ours_is_a_discreet_error():
    """What `errors.py` defines, and what is raised by name elsewhere."""
    own = {name for name, value in vars(importlib.import_module("discreet.errors")).items() if isinstance(value, type)}
    for name in own:
        assert issubclass(getattr(importlib.import_module("discreet.errors"), name), DiscreetError)
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                raised = node.exc.func.id
                builtin = ("ValueError", "TypeError", "KeyError", "AttributeError")
                made_by_a_function = raised.islower()
                known = raised in own or raised in builtin or made_by_a_function or layer(module) == "cli"
                assert known, f"{module} raises {raised}"


@pytest.mark.parametrize("extra", ["duckdb", "federated", "flower", "plot"])
def test_a_missing_extra_is_an_import_error_that_says_what_to_install(extra):
    error = MissingExtra(extra)
    assert isinstance(error, ImportError)
    assert f"pip install 'discreet[{extra}]'" in str(error)
