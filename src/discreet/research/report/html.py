"""A report as one HTML file that needs no other file and no network, and is safe to open whatever its texts are.

All texts of a document are escaped. Should that fail, the page's Content-Security-Policy allows only our own script and
style, named by their hashes, and no address at all.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources

from discreet.research.report.document import Code, Document, Paragraph, Part, Picture, ReportTable, Section
from discreet.research.report.drawing import Drawing, draw_all
from discreet.research.report.sorting import is_missing, is_plain, key

LARGEST_SVG = 400_000
"""A larger picture is shown as PNG: an SVG of thousands of points makes a page slow."""

WIDE = 8
"""From this number of columns, the first one stays in sight while the others scroll."""

SHORT = 32
"""A cell that begins with a number and has at most this many characters is not broken into lines."""

LONG = 60
"""A cell with at least this many characters gets a minimum width, so that its lines can be read."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def write(document: Document, drawings: Mapping[str, Drawing] | None = None) -> str:
    """The page as text; the same document gives the same text.

    Parameters
    ----------
    drawings : its pictures by name, if they are drawn already.
    """
    drawn = draw_all(document.pictures()) if drawings is None else drawings
    contents = _contents(document.sections)
    lines = [
        *_head(document.title),
        "<body>",
        f'<div class="page{" with-contents" if contents else ""}">',
        "<header>",
        f"<h1>{text(document.title)}</h1>",
        *_notices(document.notices),
        *([_origin(document.origin, "origin")] if document.origin else []),
        "</header>",
        *contents,
        "<main>",
    ]
    for place, section in enumerate(document.sections, 1):
        lines += _section(section, place, document.origin, drawn)
    lines += ["</main>", "</div>", f"<script>{_asset('report.js')}</script>", "</body>", "</html>"]
    return "\n".join(lines) + "\n"


def _head(title: str) -> list[str]:
    """The head of the page; the security policy comes first, since it governs only what follows it."""
    style, script = _asset("report.css"), _asset("report.js")
    return [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{text(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
    ]


def text(value: str) -> str:
    """A text that is safe between tags and inside quoted attributes.

    Characters that HTML does not allow, and halves of surrogate pairs, become U+FFFD; all line breaks become LF.

    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    lines = re.sub("\r\n?|\x85|\u2028|\u2029", "\n", value)
    return escape(_UNPRINTABLE.sub("\ufffd", lines), quote=True)


def policy(style: str, script: str) -> str:
    """The security policy: the browser may show inline pictures and use this style and this script, nothing else."""
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return resources.files("discreet.research.report").joinpath("assets", name).read_text(encoding="utf-8")


def _notices(notices: Sequence[str]) -> list[str]:
    if not notices:
        return []
    return ['<div class="notices" role="note">', *(f"<p>{text(each)}</p>" for each in notices), "</div>"]


def _contents(sections: Sequence[Section]) -> list[str]:
    if len(sections) < 2:
        return []
    entries = [f'<li><a href="#section-{place}">{text(each.title)}</a></li>' for place, each in enumerate(sections, 1)]
    return ['<nav aria-labelledby="contents">', '<h2 id="contents">Contents</h2>', "<ol>", *entries, "</ol>", "</nav>"]


def _section(section: Section, place: int, origin: str, drawn: Mapping[str, Drawing]) -> Iterator[str]:
    name = f"section-{place}"
    yield f'<section id="{name}" aria-labelledby="{name}-title">'
    yield f'<h2 id="{name}-title">{text(section.title)}</h2>'
    for number, part in enumerate(section.parts, 1):
        yield from _part(part, f"part-{place}-{number}", origin, drawn)
    yield "</section>"


def _part(part: Part, name: str, origin: str, drawn: Mapping[str, Drawing]) -> Iterator[str]:
    if isinstance(part, ReportTable):
        yield from _table(part, name, origin)
    elif isinstance(part, Picture):
        yield from _picture(part, drawn[part.name], origin)
    elif isinstance(part, Code):
        yield f'<figure id="{name}"><figcaption id="{name}-caption">{text(part.caption)}</figcaption>'
        opened = f'<pre class="scroll" tabindex="0" role="region" aria-labelledby="{name}-caption"><code>'
        yield f"{opened}{text(part.text.rstrip())}</code></pre></figure>"
    else:
        yield from _paragraphs(part, origin)


def _paragraphs(paragraph: Paragraph, origin: str) -> Iterator[str]:
    title = f' title="{text(origin)}"' if origin else ""
    for each in re.split(r"\n\s*\n", text(paragraph.text).strip()):
        if each:
            yield f"<p{title}>{each}</p>"


def _table(table: ReportTable, name: str, whole: str) -> Iterator[str]:
    """A table; the origin is the title of its body, which HTML shows for every cell, and stands below it unless the
    whole report has the same."""
    shared = table.origin == whole
    plain = [is_plain([row[place] for row in table.rows]) for place in range(len(table.heads))]
    heads = (f'<th scope="col"{_number(each)}>{text(head)}</th>' for head, each in zip(table.heads, plain, strict=True))
    yield f'<figure class="table{" wide" if len(table.heads) >= WIDE else ""}" id="{name}">'
    yield f'<figcaption id="{name}-caption">{text(table.caption)}</figcaption>'
    yield f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-caption">'
    yield f'<table aria-labelledby="{name}-caption" aria-describedby="{"origin" if shared else f"{name}-origin"}">'
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield f'<tbody title="{text(table.origin)}">'
    for place, row in enumerate(table.rows):
        cells = (_cell(cell, plain[at], (place, at) in table.best) for at, cell in enumerate(row))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"
    yield "</div>"
    if not shared:
        yield _origin(table.origin, f"{name}-origin")
    yield "</figure>"


def _number(plain: bool) -> str:
    return ' class="number"' if plain else ""


def _cell(cell: str, plain: bool, is_best: bool) -> str:
    number = key(cell)
    marks = _number(plain)
    if number is not None:
        marks += f' data-key="{_javascript(number)}"' + (" data-short" if len(cell) <= SHORT else "")
    elif is_missing(cell):
        marks += " data-missing"
    if len(cell) >= LONG:
        marks += " data-long"
    return f"<td{marks}><strong>{text(cell)}</strong></td>" if is_best else f"<td{marks}>{text(cell)}</td>"


def _javascript(number: float) -> str:
    return repr(number).replace("inf", "Infinity")


def _picture(picture: Picture, drawing: Drawing, whole: str) -> Iterator[str]:
    small = len(drawing.svg) <= LARGEST_SVG
    kind, content = ("svg+xml", drawing.svg) if small else ("png", drawing.png)
    address = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    yield f'<figure class="picture" id="picture-{picture.name}">'
    yield f"<figcaption>{text(picture.caption)}</figcaption>"
    size = f'width="{drawing.width}" height="{drawing.height}"'
    yield f'<img src="{address}" alt="{text(picture.caption)}" title="{text(picture.origin)}" {size}>'
    if picture.origin != whole:
        yield _origin(picture.origin)
    yield "</figure>"


def _origin(origin: str, name: str = "") -> str:
    identifier = f' id="{name}"' if name else ""
    return f'<p class="origin"{identifier}>Made by <code>{text(origin)}</code></p>'
