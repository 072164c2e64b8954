"""The compose file: its commands exist, and the web process has no way to the data."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from discreet.cli.application import app

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_the_commands_exist(name):
    told = CliRunner().invoke(app, [*SERVICES[name]["command"], "--help"])
    assert told.exit_code == 0, told.output


def test_web_and_worker_share_nothing_but_the_database():
    web, worker = SERVICES["web"], SERVICES["worker"]
    assert web["user"] != worker["user"]
    assert {each.split(":")[0] for each in web["volumes"]}.isdisjoint(each.split(":")[0] for each in worker["volumes"])
    assert not any("/data" in each for each in web["volumes"])
    assert web["environment"]["DISCREET_FOLDER"] != worker["environment"]["DISCREET_FOLDER"]
    assert "ports" not in worker
    assert "outside" not in worker["networks"]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_both_run_with_few_rights(name):
    each = SERVICES[name]
    assert each["read_only"] is True
    assert each["cap_drop"] == ["ALL"]
    assert each["user"] != "0"


def test_the_image_has_both_accounts():
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    for name in ("web", "worker"):
        assert f"--uid {SERVICES[name]['user']} " in text
