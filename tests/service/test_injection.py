"""Texts that would be SQL, through every field and parameter of the API: refused or kept as texts, never run."""

import re

import pytest
from sqlalchemy import inspect, text

from discreet.service.app import ROUTERS
from support.account_databases import new_address
from support.service_world import Unlimited, world

TEXTS = (
    "'; DROP TABLE people; --",
    "x' OR '1'='1",
    '" OR 1=1 --',
    "1; UPDATE people SET is_owner = true",
    "') UNION SELECT password_hash FROM people --",
    "%' AND sleep(5) --",
    "\\'; DELETE FROM entries; --",
    "{{7*7}}${7*7}",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request, tmp_path):
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    address = new_address(request.param, tmp_path, server)
    with world(tmp_path / "service", address, rates=Unlimited()) as made:
        yield made


def contents(service):
    """The rows of all tables that no harmless call here may change."""
    with service.writing() as connection:
        names = inspect(connection).get_table_names()
        kept = [name for name in names if name not in ("tokens", "sessions", "log", "jobs", "links")]
        return {name: connection.execute(text(f'SELECT * FROM "{name}"')).all() for name in sorted(kept)}


def filled(schema, description, value):
    """An example of a JSON schema in which every free text is this value."""
    if "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return filled(choices[0], description, value)
    if schema.get("type") == "object":
        return {name: filled(each, description, value) for name, each in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [filled(schema.get("items", {}), description, value)]
    return {"integer": 1, "number": 1, "boolean": True}.get(schema.get("type"), value)


def calls(service, value):
    """One call of every operation, with this text in every place that takes one."""
    description = service.app.openapi()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            address = re.sub(r"{\w+}", lambda _: value.replace("/", "%2F").replace("?", "%3F"), path)
            given = operation.get("parameters", [])
            query = {each["name"]: value for each in given if each["in"] == "query"}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            yield method.upper(), address, query, None if body is None else filled(body, description, value)


@pytest.mark.parametrize("value", TEXTS)
def test_no_text_is_run(service, value):
    before = contents(service)
    asked = 0
    with service.client("ana") as client:
        client.base_url = service.url
        for method, address, query, body in calls(service, value):
            headers = {"Idempotency-Key": value}
            answer = client.request(method, address, params=query, json=body, headers=headers)
            assert answer.status_code < 500, (method, address, answer.text)
            assert value not in answer.text or answer.status_code < 300, (method, address)
            asked += 1
    assert asked == sum(len(router.routes) for router in ROUTERS)
    assert contents(service) == before


@pytest.mark.parametrize("value", TEXTS)
def test_texts_of_an_owner_are_kept_as_texts(service, value):
    with service.client("olga") as client:
        made = client.post("/projects", json={"name": "next", "title": value})
        assert made.status_code == 201
        assert client.get("/projects/next").json()["title"] == value
        assert client.get("/datasets", params={"name": value}).status_code == 200
        assert len(client.get("/people").json()) == len(service.people)
