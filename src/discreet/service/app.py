"""The application: `create_app(settings)` is what uvicorn runs. It has no route to the data and no key of a source."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from discreet.errors import ParameterError
from discreet.privacy.accounts.database import engine_for
from discreet.service.api import accounts, datasets, jobs, oidc, people, projects, releases, running, signing_in
from discreet.service.api.shapes import ProblemBody
from discreet.service.pages import add_pages
from discreet.service.pages.visits import show_problem
from discreet.service.security.oidc import Provider, SignIn
from discreet.service.settings import Settings
from discreet.service.web.addresses import AddressLimit
from discreet.service.web.context import Context
from discreet.service.web.failures import CatchAll, install
from discreet.service.web.headers import PlainAddress, SecurityHeaders, SizeLimit
from discreet.service.web.logs import API, Lines, logger
from discreet.service.web.rates import Rates

VERSION = "1"
"""Of the API, which stays while the package goes on: what is added to it breaks no client."""
ROUTERS: tuple[APIRouter, ...] = (
    signing_in.router,
    people.router,
    datasets.router,
    projects.router,
    jobs.router,
    releases.router,
    accounts.router,
    running.router,
)


THREADS = 8
"""Requests that are worked on at once; others wait in the order in which they came. One at a time computes anyway, and
threads beyond those that wait for the database only take the processor from one another, out of order: measured by
benchmarks/service_load.py with 6, 12 and 40."""


@contextlib.asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    """Around the life of the application in a server. What is loaded stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def create_app(settings: Settings, *, log: Any = None, rates: Rates | None = None) -> FastAPI:
    """The service's web application for these settings; its database must have been migrated."""
    engine = engine_for(settings.database)
    here = Context(settings, engine, log or logger(), sign_in_of(settings), rates or Rates())
    app = FastAPI(
        title="discreet",
        version=VERSION,
        description="Classifiers, scores and counts that can be published. Refusals are problems of RFC 9457.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_living,
    )
    app.state.context = here
    for router in ROUTERS:
        app.include_router(router, prefix=API)
    app.include_router(oidc.router)
    add_pages(app)
    install(app, methods_of, show_problem)
    app.add_middleware(PlainAddress)
    app.add_middleware(SizeLimit)
    app.add_middleware(AddressLimit, rates=here.rates)
    app.add_middleware(CatchAll, log=here.log)
    app.add_middleware(Lines, log=here.log, observe=here.metrics.observe)
    app.add_middleware(SecurityHeaders, https=here.https)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    return app


def methods_of(path: str) -> str:
    """The methods that an address of the API takes, as in the header Allow; "" for other addresses."""
    if not path.startswith(API + "/"):
        return ""
    inner = path.removeprefix(API)
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    found = {method for route in routes if route.path_regex.match(inner) for method in route.methods or ()}
    return ", ".join(sorted(found))


def sign_in_of(settings: Settings) -> SignIn | None:
    """Sign-in by OpenID Connect, if the settings name a provider."""
    if settings.oidc_issuer is None:
        return None
    if settings.oidc_client is None or settings.oidc_secret_file is None:
        raise ParameterError("OpenID Connect needs issuer, client and the file of the client's secret; give all three")
    secret = settings.oidc_secret_file.read_text(encoding="utf-8").strip()
    provider = Provider(settings.oidc_issuer, settings.oidc_client, secret)
    return SignIn(provider, settings.secret_key(), settings.public_url.rstrip("/") + oidc.FINISH)


def describe(app: FastAPI) -> dict[str, Any]:
    """The API's description (OpenAPI), with the shape of problems."""
    if app.openapi_schema is None:
        found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        shape = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(shape.pop("$defs", {}))
        schemas["ProblemBody"] = shape
        app.openapi_schema = found
    return app.openapi_schema
