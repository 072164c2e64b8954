"""What the documents show must work as printed."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import MissingExtra

ROOT = Path(__file__).parents[1]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(discreet.__path__, "discreet.")
    if not module.name.endswith("__main__")
]


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0


def test_python_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    assert (tmp_path / "model.json").exists()


@pytest.mark.slow
def test_commands_of_the_readme(tmp_path: Path) -> None:
    """All commands, in order, in a folder of their own, after the demo."""
    commands = "\n".join(text for text in blocks("README.md", "") if "discreet " in text)
    source = str(Path(discreet.__file__).parents[1])
    script = f'discreet() {{ "{sys.executable}" -m discreet.cli "$@"; }}\nset -e\ndiscreet demo\n{commands}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {"model.png", "rules.json", "joint.json"} <= {path.name for path in tmp_path.iterdir()}


def test_links_of_the_documents_lead_somewhere() -> None:
    documents = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))]
    for name in documents:
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


NAMED = re.compile(r"\b((?:[a-z_0-9]+/)*test_[a-z_0-9]+\.py)((?:::| *:\s+)(test_[a-z_0-9]+))?")
SAYING = [ROOT / "docs" / "proofs.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py"))]


@pytest.mark.parametrize("path", SAYING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_tests_that_a_proof_names_exist(path: Path) -> None:
    for name, _, test in NAMED.findall(path.read_text(encoding="utf-8")):
        named = ROOT / "tests" / name.removeprefix("tests/")
        assert named.exists(), f"{path} names {name}"
        assert not test or f"def {test}(" in named.read_text(encoding="utf-8"), f"{name} has no {test}"


def test_the_code_that_documents_name_exists() -> None:
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        if path.name == "CHANGELOG.md":
            continue
        for name in re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py|(?:[a-z_]+/)+)`", path.read_text(encoding="utf-8")):
            places = (ROOT, ROOT / "src" / "discreet", ROOT / "tests")
            assert any((place / name).exists() for place in places), f"{path} names {name}"


@pytest.mark.slow
def test_commands_of_the_document_on_comparing(tmp_path: Path) -> None:
    """The first commands for compare, reproduce and advise."""
    texts = blocks("docs/comparing.md", "sh")
    commands = [line for text in texts for line in text.splitlines() if line.startswith("discreet ")]
    assert {line.split()[1] for line in commands} == {"compare", "reproduce", "advise"}
    quick = "\n".join(line for line in commands if "--full" not in line)
    script = f'discreet() {{ "{sys.executable}" -m discreet.cli "$@"; }}\nset -e\ndiscreet demo\n{quick}'
    source = str(Path(discreet.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "DISCREET_DATA": ""}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "comparison" / "report.html").exists()
    assert (tmp_path / "vaidya" / "report.html").exists()
    assert (tmp_path / "advice.png").exists()
