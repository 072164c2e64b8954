"""Templates to pages: what every page shares, and nothing that a template could use to reach data.

Guarantee: what a person or a file wrote is shown as text, never as markup. Proof: templates are compiled with
autoescaping, no template marks a value as safe, and the policy of every response allows no inline script or style.
Test: tests/service/test_pages.py::test_texts_are_never_markup
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from discreet.privacy.epsilon import shown_above, shown_below
from discreet.service.pages import drawings

IDENTIFIER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STATES: Mapping[str, str] = {
    "requested": "waits for a decision",
    "reserved": "approved, waits for a worker",
    "running": "running",
    "released": "released",
    "failed": "failed",
    "refused": "refused",
    "cancelled": "cancelled",
    "expired": "expired",
    "drafting": "being drafted",
    "drafted": "to be confirmed",
    "confirming": "being written",
    "ready": "ready",
    "withdrawn": "withdrawn",
}


@dataclass(frozen=True)
class Notice:
    """A sentence above the page: what was done, or what is wrong and what to do."""

    text: str
    kind: str = "good"
    remedy: str = ""


@dataclass(frozen=True)
class Place:
    """One entry of the navigation."""

    path: str
    name: str
    current: bool = False
    waiting: int = 0


SAID: Mapping[str, Notice] = {
    "approved": Notice("Approved. The amount is reserved on every account that it touches."),
    "refused": Notice("Refused. Nothing was charged."),
    "cancelled": Notice("Cancelled. What was reserved is free again."),
    "registered": Notice("Registered. A worker drafts the schema now."),
    "confirmed": Notice("Confirmed. A worker writes the snapshot now."),
    "drafting": Notice("A worker drafts a new version now."),
    "withdrawn": Notice("Withdrawn. Nothing can be asked of this table any more."),
    "created": Notice("Created."),
    "member": Notice("Added to the project."),
    "granted": Notice("Granted."),
    "changed": Notice("Changed."),
    "revoked": Notice("Revoked."),
    "limit": Notice("The limit is set."),
    "asked": Notice("Asked. This page shows what becomes of it."),
    "password": Notice("The password is changed."),
    "left": Notice("You are signed out."),
}
"""What a page can say after a form was sent. An address names one of these, so that no address can put words here."""


def moment(value: datetime | None) -> Markup:
    """A time for people and for machines."""
    if value is None:
        return Markup("")
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M} UTC"
    )


def short(text: str) -> Markup:
    """A text whose long identifiers are cut; the whole text is shown when it is pointed at."""
    cut = IDENTIFIER.sub(lambda found: f"{found.group()[:8]}…", text)
    return escape(text) if cut == text else Markup('<span title="{}">{}</span>').format(text, cut)


@cache
def environment() -> Environment:
    """The compiled templates."""
    made = Environment(
        loader=PackageLoader("discreet.service", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        words_of_state=lambda state: STATES.get(state, state),
        moment=moment,
        short=short,
        above=shown_above,
        below=shown_below,
        bar=drawings.budget,
        refresh=None,
        notice=None,
        visitor=None,
        places=(),
        csrf=None,
    )
    return made


def page(template: str, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A page from a template. `context` has `visitor`, `places` and `csrf` where somebody is signed in."""
    return HTMLResponse(environment().get_template(template).render(**context), status)


def forgery_field(csrf: str | None) -> Markup:
    """The hidden field that shows that a form comes from a page of this service."""
    return Markup("") if csrf is None else Markup('<input type="hidden" name="csrf" value="{}">').format(csrf)


def places_of(roles: Sequence[str], path: str, waiting: int) -> tuple[Place, ...]:
    """The navigation: what the roles of a person lead to, each once."""
    paths = {
        "owner": ("/inbox", "/tables", "/projects", "/people", "/limits", "/jobs", "/releases", "/ledger", "/log"),
        "analyst": ("/catalogue", "/jobs", "/releases", "/budget"),
        "auditor": ("/ledger", "/log"),
    }
    names = {
        "/inbox": "Inbox",
        "/tables": "Tables",
        "/projects": "Projects",
        "/people": "People",
        "/limits": "Limits",
        "/jobs": "Requests",
        "/releases": "Answers",
        "/catalogue": "Catalogue",
        "/budget": "My budget",
        "/ledger": "Ledger",
        "/log": "Log",
    }
    listed = dict.fromkeys(each for role in roles for each in paths[role])
    under = {"/ask": "/catalogue"}
    top = "/" + path.strip("/").split("/", 1)[0]
    return tuple(
        Place(each, names[each], under.get(top, top) == each, waiting if each == "/inbox" else 0) for each in listed
    )
