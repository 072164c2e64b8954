"""A report as Markdown for GitHub; the pictures are files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from discreet.research.report.document import Code, Document, Part, Picture, ReportTable, Section
from discreet.research.report.sorting import is_plain

_LINE_END = re.compile("\r\n?|[\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_MARKUP = re.compile(r"([\\`*_\[\]|~$@#])")
_BLOCK = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=[-+](?:\s|$)|-[-\s]|=|:?-+:?$)")
"""Text that would begin a list, a rule, a table or an underlined heading; a backslash is inserted after it."""


def write(document: Document, folder: str = "") -> str:
    """The report as text.

    Parameters
    ----------
    folder : path of the pictures relative to the file; default: the same folder.
    """
    blocks = [f"# {line(document.title)}"]
    blocks += [f"> {line(notice)}" for notice in document.notices]
    blocks += [_origin(document.origin)] if document.origin else []
    blocks += _contents(document.sections)
    for place, section in enumerate(document.sections, 1):
        anchor = f'<a name="section-{place}"></a>' if len(document.sections) > 1 else ""
        blocks.append(f"## {anchor}{line(section.title)}")
        blocks += [block for part in section.parts for block in _part(part, folder, document.origin)]
    return "\n\n".join(blocks) + "\n"


def line(text: str) -> str:
    """A text on one line, escaped so that nothing in it is markup.

    >>> line("a|b <i> *c*")
    'a\\\\|b &lt;i&gt; \\\\*c\\\\*'
    """
    one = re.sub("[ \t]+", " ", _printable(text)).strip()
    safe = one.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _MARKUP.sub(r"\\\1", safe).replace("://", r"\://")
    safe = re.sub(r"\bwww\.", r"www\\.", safe, flags=re.IGNORECASE)
    start = _BLOCK.match(safe)
    return safe if start is None else f"{start[0]}\\{safe[start.end() :]}"


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", _LINE_END.sub(" ", text))


def _contents(sections: Sequence[Section]) -> list[str]:
    """Links to our own anchors, since the anchors that GitHub makes depend on the words of the headings."""
    if len(sections) < 2:
        return []
    return ["\n".join(f"{place}. [{line(each.title)}](#section-{place})" for place, each in enumerate(sections, 1))]


def _part(part: Part, folder: str, whole: str) -> Iterator[str]:
    if isinstance(part, ReportTable):
        yield _caption(part.caption)
        yield _table(part)
        yield from [_origin(part.origin)] if part.origin != whole else []
    elif isinstance(part, Picture):
        address = quote(f"{folder}/{part.name}.png" if folder else f"{part.name}.png")
        yield f"![{line(part.caption)}]({address})"
        yield _caption(part.caption)
        yield from [_origin(part.origin)] if part.origin != whole else []
    elif isinstance(part, Code):
        yield _caption(part.caption)
        yield _fenced(part.text)
    else:
        for each in re.split(r"\n\s*\n", _LINE_END.sub("\n", part.text).strip()):
            if each:
                yield "\\\n".join(line(one) for one in each.split("\n"))


def _fenced(code: str) -> str:
    """Code as it is, in a fence that is longer than any row of backticks in it."""
    lines = [_UNPRINTABLE.sub("\ufffd", each) for each in _LINE_END.sub("\n", code).rstrip("\n").split("\n")]
    fence = "`" * max([3, *(1 + len(each) for each in re.findall("`+", code))])
    return "\n".join([fence, *lines, fence])


def _caption(caption: str) -> str:
    return f"**{line(caption)}**" if caption.strip() else ""


def _table(table: ReportTable) -> str:
    rows = [[line(head) for head in table.heads]]
    rows += [[_marked(cell, (r, c) in table.best) for c, cell in enumerate(row)] for r, row in enumerate(table.rows)]
    columns = ([row[place] for row in table.rows] for place in range(len(table.heads)))
    rows.insert(1, ["---:" if is_plain(column) else "---" for column in columns])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _marked(cell: str, is_best: bool) -> str:
    return f"**{line(cell)}**" if is_best and cell.strip() else line(cell)


def _origin(origin: str) -> str:
    """The origin as code; a fence of more backticks than the text has in a row keeps it free of markup."""
    one = _printable(origin).strip()
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", one)), default=0))
    pad = " " if one.startswith("`") or one.endswith("`") else ""
    return f"Made by {fence}{pad}{one}{pad}{fence}"
