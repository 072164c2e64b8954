"""The compose file: its commands exist, and the web process has no way to the data."""

import asyncio
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from discreet.cli.application import app

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


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


def test_the_proxy_on_the_machine_is_believed_about_addresses_and_nobody_else():
    """Else all sign-ins share its address, and one person's wrong passwords keep everybody out."""
    set_to = SERVICES["web"]["environment"]["FORWARDED_ALLOW_IPS"]
    assert SERVICES["web"]["ports"] == ["127.0.0.1:8000:8000"]
    (subnet,) = COMPOSE["networks"]["outside"]["ipam"]["config"]
    assert set_to == "${FORWARDED_ALLOW_IPS:-" + subnet["gateway"] + "}"
    assert ip_address(subnet["gateway"]) in ip_network(subnet["subnet"])
    assert seen_address(subnet["gateway"], subnet["gateway"]) == "203.0.113.7"  # not what the client claims
    assert seen_address("172.30.80.9", subnet["gateway"]) == "172.30.80.9"


def seen_address(peer, trusted):
    """What the application takes for the address of who asks."""
    seen = []

    async def web(scope, receive, send):
        seen.append(scope["client"][0])

    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", b"6.6.6.6, 203.0.113.7")]}
    asyncio.run(ProxyHeadersMiddleware(web, trusted)(scope, None, None))
    return seen[0]


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
