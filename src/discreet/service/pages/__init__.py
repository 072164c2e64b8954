"""Pages for owners, analysts and auditors: rendered here, usable without scripts, by keyboard and on a phone.

`add_pages` adds them to the application. Handlers are thin: they read a form, call the functions that the API
calls too, and show what these return or refuse.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from discreet.service.pages import (
    ask_page,
    audit_page,
    catalogue_page,
    entering,
    inbox_page,
    jobs_page,
    limits_page,
    people_page,
    projects_page,
    releases_page,
    tables_page,
)

ROUTERS = (
    entering.router,
    inbox_page.router,
    tables_page.router,
    people_page.router,
    projects_page.router,
    limits_page.router,
    catalogue_page.router,
    ask_page.router,
    jobs_page.router,
    releases_page.router,
    audit_page.router,
)
STATIC = Path(__file__).parent.parent / "static"


def add_pages(app: FastAPI) -> None:
    """Add all pages, and the files that they use, to the application."""
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
