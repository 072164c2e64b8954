"""Checks a built site without a network: every link inside it leads somewhere, and every public name has a page.

python docs/_ext/check_site.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from inspect import isclass, isfunction, ismodule
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.has_example = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.has_example |= "doctest" in given.get("class", "")


def broken_links(site: Path) -> list[str]:
    """Links that lead nowhere inside the site, with the page that has them; those that leave it are not followed."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            missing = not target.exists() or (place and target in pages and place not in pages[target].places)
            if missing and not link.startswith("#"):
                broken.append(f"{path.relative_to(site.resolve())} links to {link}")
    return sorted(set(broken))


def public_names() -> list[str]:
    """The public classes and functions of discreet and of its public rooms, as `Auto` or `federated.Party`."""
    import discreet

    names = []
    for name in discreet.__all__:
        found = getattr(discreet, name)
        room = {f"{name}.{each}": getattr(found, each) for each in found.__all__} if ismodule(found) else {name: found}
        names += [full for full, value in room.items() if isclass(value) or isfunction(value)]
    return [name for name in names if name != "evaluation.evaluate"]  # its page is that of discreet.evaluate


def names_without_example(site: Path) -> list[str]:
    """Public names whose page is missing or shows no example."""
    pages = {name: site / "_made" / "api" / f"discreet.{name}.html" for name in public_names()}
    return [name for name, path in pages.items() if not path.exists() or not Page(path).has_example]


def main() -> int:
    site = Path(sys.argv[1])
    wrong = broken_links(site) + [f"{name}: no page with an example" for name in names_without_example(site)]
    print("\n".join(wrong) or f"{len(list(site.rglob('*.html')))} pages, no broken link")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
