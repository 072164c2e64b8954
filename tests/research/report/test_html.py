"""One HTML file that needs nothing, means what the document says, and is the same every time."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.research.report import Code, Document, Paragraph, Picture, ReportTable, Section, html
from support import samples
from support.samples import AWKWARD, COMMAND, HOSTILE

VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Every element as (tag, attributes, text inside), after a check that tags are closed in their order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.stack, self.comments = [], [], []
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names))
        element = (tag, dict(attributes), [])
        self.elements.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_endtag(self, tag):
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        for _, _, texts in self.stack:
            texts.append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    def all(self, tag):
        return [(attributes, "".join(texts)) for name, attributes, texts in self.elements if name == tag]

    def one(self, tag):
        (found,) = self.all(tag)
        return found


def plain(text):
    """A text as the page has it: characters that HTML forbids replaced, ends of lines unified."""
    return re.sub("\r\n?|\x85|\u2028|\u2029", "\n", re.sub("[\x00\x07\ud800]", "\ufffd", text))


@pytest.fixture(scope="module")
def page(every_part):
    return Page(html.write(every_part))


def test_everything_is_said(page, every_part):
    assert page.one("title")[1] == page.one("h1")[1] == every_part.title
    headings = [text for _, text in page.all("h2")]
    assert headings == ["Contents", *(section.title for section in every_part.sections)]
    tables = [part for section in every_part.sections for part in section.parts if isinstance(part, ReportTable)]
    assert [text for _, text in page.all("th")] == [head for table in tables for head in table.heads]
    assert [text for _, text in page.all("td")] == [cell for table in tables for row in table.rows for cell in row]
    parts = [part for section in every_part.sections for part in section.parts if not isinstance(part, Paragraph)]
    assert [text for _, text in page.all("figcaption")] == [part.caption for part in parts]
    paragraphs = [text for _, text in page.all("p")]
    assert paragraphs[:2] == list(every_part.notices)
    assert {"No score below is private.", every_part.notices[0]} <= set(paragraphs)


def test_contents_lead_to_the_sections(page):
    identifiers = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    targets = [attributes["href"].removeprefix("#") for attributes, _ in page.all("a")]
    assert targets == [attributes["id"] for attributes, _ in page.all("section")]
    named = [
        attributes[name]
        for _, attributes, _ in page.elements
        for name in ("aria-labelledby", "aria-describedby")
        if name in attributes
    ]
    assert set(named) <= set(identifiers)


def test_one_section_has_no_contents():
    page = Page(html.write(Document("one", [Section("only", [Paragraph("text")])])))
    assert page.all("nav") == []
    assert "with-contents" not in page.all("div")[0][0]["class"]


def test_every_number_carries_its_command_and_seed(page, every_part):
    """Below each table and picture, as the title of all cells, of the picture, and of the running text."""
    origins = [text for attributes, text in page.all("p") if attributes.get("class") == "origin"]
    parts = [part for section in every_part.sections for part in section.parts if not isinstance(part, Paragraph)]
    others = [part.origin for part in parts if part.origin != every_part.origin]  # that of the whole stands once
    assert origins == [f"Made by {each}" for each in (every_part.origin, *others)]
    assert {attributes["title"] for attributes, _ in page.all("tbody")} == {COMMAND}
    assert {attributes["title"] for attributes, _ in page.all("img")} == {COMMAND}
    running = [attributes for attributes, text in page.all("p") if text.startswith("Each model learned")]
    assert running == [{"title": COMMAND}]


def test_origins_are_those_of_their_own_table():
    tables = [ReportTable(f"table {each}", ["x"], [[str(each)]], f"command --seed {each}") for each in range(3)]
    page = Page(html.write(Document("t", [Section("s", tables)])))
    assert [attributes["title"] for attributes, _ in page.all("tbody")] == [table.origin for table in tables]
    described = [attributes["aria-describedby"] for attributes, _ in page.all("table")]
    origins = {attributes.get("id"): text for attributes, text in page.all("p")}
    assert [origins[each] for each in described] == [f"Made by {table.origin}" for table in tables]


def test_cells_carry_what_they_are_sorted_by():
    page = Page(
        html.write(Document("t", [Section("s", [ReportTable("c", ["x"], [[each] for each in AWKWARD], COMMAND)])]))
    )
    keys = [attributes.get("data-key") for attributes, _ in page.all("td")]
    assert keys == ["0.951", None, "-0.5", "1e-11", None, "Infinity", "-2.0", "0.9", "12500.0", None]
    assert ["data-missing" in attributes for attributes, _ in page.all("td")] == [each in ("", "–") for each in AWKWARD]


def test_columns_of_numbers_are_set_flush_right():
    table = ReportTable(
        "c", ["plain", "composed", "words"], [["1", "0.9 ± 0.1", "a"], ["–", "0.8 ± 0.1", "b"]], COMMAND
    )
    page = Page(html.write(Document("t", [Section("s", [table])])))
    assert [attributes.get("class") for attributes, _ in page.all("th")] == ["number", None, None]
    assert [attributes.get("class") for attributes, _ in page.all("td")] == ["number", None, None] * 2


def test_pictures_are_inside(page, every_part):
    line, scatter = (attributes["src"] for attributes, _ in page.all("img"))
    kind, content = line.split(",")
    assert kind == "data:image/svg+xml;base64"
    drawn = base64.b64decode(content)
    assert drawn.startswith(b"<?xml")
    assert b"<text" not in drawn, "letters are paths"
    kind, content = scatter.split(",")
    assert kind == "data:image/png;base64", "as vectors it is too large"
    assert base64.b64decode(content).startswith(b"\x89PNG")
    assert [attributes["alt"] for attributes, _ in page.all("img")] == [each.caption for each in every_part.pictures()]
    assert page.all("img")[0][0]["width"] == "480"
    assert page.all("img")[0][0]["height"] == "288"


def test_the_policy_allows_this_style_and_this_script_alone(page):
    (policy,) = [a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def hashed(tag):
        return "'sha256-" + base64.b64encode(hashlib.sha256(page.one(tag)[1].encode()).digest()).decode() + "'"

    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": hashed("style"),
        "script-src": hashed("script"),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    order = [tag for tag, attributes, _ in page.elements if tag == "style" or "http-equiv" in attributes]
    assert order == ["meta", "style"]
    assert page.one("script")[0] == page.one("style")[0] == {}


def test_the_page_asks_for_nothing(page):
    for tag, attributes, _ in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/"))
    for tag in ("style", "script"):
        assert not re.search(r"url\(|@import|https?:|fetch|XMLHttp|innerHTML|eval", page.one(tag)[1])


def test_hostile_texts_stay_texts(hostile):
    page = Page(html.write(hostile))
    expected = Page(html.write(harmless(hostile)))
    assert [tag for tag, _, _ in page.elements if tag != "p"] == [tag for tag, _, _ in expected.elements if tag != "p"]
    assert page.comments == []
    assert page.one("h1")[1] == HOSTILE[0]
    assert [text for _, text in page.all("figcaption")][: len(HOSTILE)] == [plain(text) for text in HOSTILE]
    assert [attributes["title"] for attributes, _ in page.all("tbody")] == [plain(text) for text in HOSTILE]
    assert [attributes["alt"] for attributes, _ in page.all("img")] == HOSTILE[:3]
    cells = [text for _, text in page.all("td")]
    assert cells[::4] == cells[1::4] == cells[2::4] == [plain(text) for text in HOSTILE]


def harmless(document):
    """The same parts, in harmless words; a part that shares the origin of the whole still does."""
    sections = []
    for section in document.sections:
        parts = []
        for part in section.parts:
            if isinstance(part, ReportTable):
                parts.append(ReportTable("c", ["a", "b"], [["x", "y"], ["x", "1"]], _like(part, document)))
            elif isinstance(part, Picture):
                parts.append(Picture(part.name, "c", part.figure, _like(part, document)))
            else:
                parts.append(Paragraph("p"))
        sections.append(Section("s", parts))
    return Document("t", sections, ["n" for _ in document.notices], "o")


def _like(part, document):
    return "o" if part.origin == document.origin else "other"


@given(st.text(max_size=40))
def test_any_text_comes_back_from_the_page(text):
    """But for characters that HTML forbids, which become U+FFFD, and ends of lines, which become LF."""
    page = Page(html.write(Document(text, [Section(text, [ReportTable(text, [text], [[text]], f"o{text}")])], [text])))
    assert len(page.all("td")) == len(page.all("th")) == len(page.all("h1")) == 1
    forbidden = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]"
    expected = re.sub(forbidden, "\ufffd", re.sub("\r\n?|\x85|\u2028|\u2029", "\n", text))
    assert page.one("td")[1] == page.one("th")[1] == page.one("h1")[1] == expected
    assert page.one("tbody")[0]["title"] == f"o{expected}"
    html.write(Document(text, [])).encode()


def test_halves_of_surrogate_pairs_can_be_written():
    assert "a\ufffdb" in html.write(Document("a\ud800b", [])).encode().decode()


def test_the_same_document_gives_the_same_text(every_part):
    assert html.write(every_part) == html.write(every_part) == html.write(samples.every_part())


def test_another_process_gives_the_same_text(every_part):
    code = (
        "import hashlib; from support import samples; from discreet.research.report import html; "
        "print(hashlib.sha256(html.write(samples.every_part()).encode()).hexdigest())"
    )
    folders = [Path(discreet.__file__).parents[1], Path(__file__).parents[2]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == hashlib.sha256(html.write(every_part).encode()).hexdigest()


def test_code_keeps_its_indentation_and_is_no_markup():
    page = html.write(Document("D", [Section("S", [Code("a script", "if x:\n    y = '<b>'\n")])]))
    assert "<code>\n" not in page
    assert "if x:\n    y = &#x27;&lt;b&gt;&#x27;</code></pre>" in page
