"""The same report as Markdown: read back by a parser, it says what the document says and nothing more."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from discreet.research.report import Code, Document, Paragraph, Picture, ReportTable, Section, markdown
from discreet.research.report.markdown import line
from support.samples import COMMAND, HOSTILE

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FORBIDDEN = "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"


def plain(text):
    """A text as it comes back: on one line, with single blanks, unprintable characters replaced."""
    one = re.sub("\r\n?|[\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text)
    return re.sub("[ \t]+", " ", re.sub(FORBIDDEN, "\ufffd", one)).strip()


def tokens(text, kind):
    return [token for token in PARSER.parse(text) if token.type == kind]


def shown(token):
    """The text of an inline token that has nothing but text in it, perhaps in bold."""
    allowed = ("text", "text_special", "softbreak", "hardbreak", "strong_open", "strong_close")
    assert {each.type for each in token.children} <= set(allowed), [each.type for each in token.children]
    return "".join(each.content for each in token.children)


def cells(text):
    found, inside = [], False
    for token in PARSER.parse(text):
        inside = token.type in ("td_open", "th_open") or (inside and token.type == "inline")
        if inside and token.type == "inline":
            found.append(shown(token))
    return found


def test_everything_is_said(every_part):
    text = markdown.write(every_part)
    tables = [part for section in every_part.sections for part in section.parts if isinstance(part, ReportTable)]
    assert cells(text) == [cell for table in tables for row in (table.heads, *table.rows) for cell in row]
    lines = text.splitlines()
    assert lines[0] == f"# {every_part.title}"
    for section in every_part.sections:
        assert any(each.startswith("## ") and each.endswith(f"</a>{section.title}") for each in lines)
        for part in section.parts:
            if not isinstance(part, Paragraph):
                assert f"**{part.caption}**" in lines
    for notice in every_part.notices:
        assert f"> {notice}" in lines
    assert "No score below is private." in lines


def test_numbers_are_not_disfigured():
    for text in ("0.951 ± 0.004 (98%)", "-0.5", "−0.5", "1e-11", "∞", "–", "", "1/3", "12 of 18."):
        assert line(text) == text


def test_columns_of_numbers_are_set_flush_right():
    table = ReportTable("c", ["plain", "composed"], [["1", "0.9 ± 0.1"], ["–", "0.8 ± 0.1"]], COMMAND)
    assert "\n| ---: | --- |\n" in markdown.write(Document("t", [Section("s", [table])]))


def test_every_number_carries_its_command_and_seed(every_part):
    lines = markdown.write(every_part).splitlines()
    parts = [part for section in every_part.sections for part in section.parts if not isinstance(part, Paragraph)]
    assert lines.count(f"Made by `{COMMAND}`") == 1  # all parts have the origin of the whole report
    assert all(part.origin == every_part.origin for part in parts)


def test_pictures_are_links_to_files(every_part):
    beside = [token.children[0] for token in tokens(markdown.write(every_part), "inline") if token.children]
    sources = [child.attrs["src"] for child in beside if child.type == "image"]
    assert sources == ["accuracy.png", "scatter.png"]
    below = markdown.write(every_part, folder="my pictures/1")
    assert "](my%20pictures/1/accuracy.png)" in below


def test_contents_lead_to_the_sections(every_part):
    text = markdown.write(every_part)
    assert re.findall(r"\]\(#(section-\d+)\)", text) == re.findall(r'<a name="(section-\d+)"></a>', text) != []
    assert "(#section" not in markdown.write(Document("one", [Section("only", [])]))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text):
    """As a title, a heading, a paragraph, a cell, a caption, a notice: the parser finds text alone."""
    document = Document(text, [Section(text, [ReportTable(text, [text, "b"], [[text, "d"]], "o")])], [text])
    written = markdown.write(document)
    inline = [token for token in tokens(written, "inline") if not token.content.startswith("Made by")]
    assert [shown(token) for token in inline] == [
        *[plain(text)] * 4,
        *[plain(text), "b", plain(text), "d"],
    ]
    assert "<" not in written
    assert not re.search(r"(?i)https?://|\bwww\.", written), "GitHub would link it"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_origins_stay_code(text):
    written = markdown.write(Document("t", [Section("s", [ReportTable("c", ["h"], [["1"]], text)])]))
    (origin,) = [token for token in tokens(written, "inline") if token.content.startswith("Made by")]
    assert [child.type for child in origin.children] == ["text", "code_inline"]
    assert re.sub(r"\s+", " ", origin.children[1].content.strip()) == plain(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_paragraphs_stay_paragraphs(text):
    written = markdown.write(Document("t", [Section("s", [Paragraph(text)])]))
    kinds = [token.type for token in PARSER.parse(written)]
    blocks = re.split(r"\n\s*\n", re.sub("\r\n?|[\x85\u2028\u2029]", "\n", text))
    heading = ["heading_open", "inline", "heading_close"]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert kinds == [*heading * 2, *paragraph * len(blocks)]
    found = [shown(token) for token in tokens(written, "inline")[2:]]
    assert found == ["".join(plain(each) for each in block.split("\n")) for block in blocks]


@given(st.text(st.one_of(st.sampled_from("\\`*_[]()<>|~$@#-+=:.!&1 \n\ta"), st.characters()), max_size=30))
def test_any_text_comes_back(text):
    written = markdown.write(
        Document("t", [Section("s", [ReportTable("c", ["h"], [[text]], "o"), Paragraph(f"x\n{text}")])])
    )
    expected = plain(text)
    # the parser strips every kind of blank from a cell
    assert cells(written) == ["h", expected.strip()]
    assert not {token.type for token in PARSER.parse(written)} & {
        "bullet_list_open",
        "ordered_list_open",
        "hr",
        "fence",
    }


def test_an_origin_with_backticks_is_fenced_with_more():
    table = ReportTable("c", ["h"], [["1"]], "`a ``b``")
    assert "Made by ``` `a ``b`` ```" in markdown.write(Document("t", [Section("s", [table])]))


def test_a_picture_without_caption_is_no_rule(every_part):
    picture = Picture("p", " ", every_part.pictures()[0].figure, "o")
    assert "****" not in markdown.write(Document("t", [Section("s", [picture])]))


@pytest.mark.parametrize("code", ["def f():\n    return '<b>'\n", "x = '````'\n\n\n    y", "| a | *b*"])
def test_code_stays_as_it_is(code):
    text = markdown.write(Document("D", [Section("S", [Code("a script", code)])]))
    assert [each.content for each in tokens(text, "fence")] == [code.rstrip("\n") + "\n"]
