"""The API's description (OpenAPI): complete, and true under schemathesis with an owner's and an analyst's token."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.service.problems import BASE, Problems
from support.service_world import Unlimited, world

ENDS_THE_CALLER = "revoke_token|change_person"
"""Operations by which a caller can end their own token; they are tested apart, since all that follows would be 401."""
STATUSES = """\
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "409", "410", "422", "429"]
negative_data_rejection.expected-statuses = [
    "400", "401", "403", "404", "405", "409", "410", "413", "415", "422", "429",
]
"""
"""A request of the right form can still be refused: a column that is not there (422), a link that is not valid (410). A
list that is too long can be refused for its bytes (413)."""


@pytest.fixture
def service(tmp_path):
    with world(tmp_path, rates=Unlimited()) as made:
        yield made


def schemathesis(service, folder, who, *options):
    """What `st run` finds with this person's token."""
    config = folder / "schemathesis.toml"
    config.write_text(STATUSES)
    command = [str(Path(sys.executable).parent / "st"), "--config-file", str(config), "run"]
    given = ["--header", f"Authorization: Bearer {service.tokens[who]}", "--seed", "1", "--max-examples", "3"]
    return subprocess.run(
        [*command, f"{service.url}/api/v1/openapi.json", *given, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.mark.slow
@pytest.mark.parametrize("who", ["olga", "ana"])
@pytest.mark.parametrize("choice", ["--exclude-operation-id-regex", "--include-operation-id-regex"])
def test_schemathesis_finds_nothing(service, tmp_path, who, choice):
    done = schemathesis(service, tmp_path, who, choice, ENDS_THE_CALLER)
    assert done.returncode == 0, done.stdout[-6000:]
    assert '"failure"' not in service.log.getvalue()


def test_every_operation_says_what_it_answers(service):
    description = service.app.openapi()
    assert description["openapi"].startswith("3.1")
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["description"], where
            statuses = operation["responses"]
            assert any(each.startswith("2") for each in statuses), where
            for status in ("401", "403", "404", "422", "429", "500", "503"):
                assert "application/problem+json" in statuses[status]["content"], where
            is_open = path.endswith(("/sessions", "/links/use", "/health/live", "/health/ready")) and method != "delete"
            assert is_open != bool(operation.get("security")), where


def test_the_problems_of_the_description_are_the_closed_list(service):
    shape = service.app.openapi()["components"]["schemas"]["ProblemBody"]
    assert shape["properties"]["type"]["enum"] == [BASE + each.kind.name for each in Problems]
