"""The report in a real browser: every picture is seen, tables sort under mouse and keys, and nobody complains."""

import io
import re

import numpy as np
import pytest
from matplotlib.image import imread

from discreet.research.report import write_report
from support.chromium import find_browser
from support.samples import AWKWARD, DOWNWARDS, UPWARDS

PICTURES = """Promise.all([...document.images].map(async (image) => {
    await image.decode();
    const box = image.getBoundingClientRect();
    const seen = getComputedStyle(image);
    return [image.complete, image.naturalWidth, box.width, box.height, seen.visibility, seen.opacity, image.alt];
}))"""

FIRST_COLUMN = "[...document.querySelector('table').tBodies[0].rows].map(row => row.cells[0].textContent)"
HEADINGS = "document.querySelector('table').tHead.rows[0].cells"
DIRECTIONS = f"[...{HEADINGS}].map(head => head.getAttribute('aria-sort'))"


@pytest.fixture(scope="module")
def pages(every_part, real_comparison, hostile, tmp_path_factory):
    """Addresses of the three reports."""
    documents = {"every_part": every_part, "real_comparison": real_comparison, "hostile": hostile}
    folder = tmp_path_factory.mktemp("reports")
    return {name: write_report(each, folder / name)[0].as_uri() for name, each in documents.items()}


def pixels(png):
    return (imread(io.BytesIO(png))[:, :, :3] * 255).round().astype(int)


def has_colour(image, colour):
    """Whether at least 40 pixels are nearly of this colour."""
    wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return int((np.abs(image - wanted).max(axis=2) <= 6).sum()) >= 40


@pytest.mark.parametrize("name", ["every_part", "real_comparison", "hostile"])
def test_every_picture_is_seen_and_nobody_complains(browser, pages, name, request):
    document = request.getfixturevalue(name)
    browser.open(pages[name])
    shown = browser.evaluate(PICTURES)
    assert len(shown) == len(document.pictures()) > 0
    for (complete, natural, width, height, visibility, opacity, alt), picture in zip(
        shown, document.pictures(), strict=True
    ):
        assert complete
        assert natural > 0
        assert width > 100
        assert height > 50
        assert (visibility, opacity) == ("visible", "1")
        assert alt.split() == re.sub("[\x00\x07\ud800]", "\ufffd", picture.caption).split()
    assert browser.complaints() == []
    assert browser.requests() == [pages[name]]


def test_pictures_have_their_colours(browser, pages):
    """A policy that took the styles from inside a picture would leave black shapes, without any complaint."""
    browser.open(pages["every_part"])
    vectors = pixels(browser.screenshot("document.images[0]"))
    points = pixels(browser.screenshot("document.images[1]"))
    assert has_colour(vectors, "#0072B2")
    assert not has_colour(vectors, "#D55E00")
    assert has_colour(points, "#D55E00")
    assert (vectors == 255).all(axis=2).mean() > 0.5


def test_clicking_a_heading_sorts(browser, pages):
    browser.open(pages["every_part"])
    assert browser.evaluate(FIRST_COLUMN) == AWKWARD
    assert browser.evaluate(DIRECTIONS) == ["none", "none"]
    for order, direction in ((UPWARDS, "ascending"), (DOWNWARDS, "descending"), (AWKWARD, "none")):
        browser.click(f"{HEADINGS}[0].querySelector('button')")
        assert browser.evaluate(DIRECTIONS) == [direction, "none"]
        found = browser.evaluate(FIRST_COLUMN)
        assert found == order
    browser.click(f"{HEADINGS}[0].querySelector('button')")
    browser.click(f"{HEADINGS}[1].querySelector('button')")
    assert browser.evaluate(DIRECTIONS) == ["none", "ascending"]
    assert browser.evaluate(FIRST_COLUMN) == AWKWARD
    assert browser.complaints() == []


def test_keys_sort_too(browser, pages):
    """Tab goes to the first heading of the table; return and the space bar press it."""
    browser.open(pages["every_part"])
    browser.evaluate("document.querySelector('.scroll').focus()")
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.closest('th').cellIndex") == 0
    browser.press("Enter", 13, "\r")
    assert browser.evaluate(FIRST_COLUMN) == UPWARDS
    browser.press(" ", 32, " ")
    assert browser.evaluate(FIRST_COLUMN) == DOWNWARDS
    assert browser.evaluate("document.activeElement.closest('th').cellIndex") == 0
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_hostile_texts_do_nothing(browser, pages):
    browser.open(pages["hostile"])
    assert browser.evaluate("document.title") == "<script>document.title='broken'</script>"
    count = "document.querySelectorAll('{}').length"
    assert browser.evaluate(count.format("script")) == 1
    assert browser.evaluate(count.format("h1")) == 1
    assert browser.evaluate(count.format("style")) == 1
    assert browser.evaluate(count.format("[onerror], [onmouseover], [onclick]")) == 0
    addresses = browser.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert all(re.fullmatch(r"#section-\d+", each) for each in addresses)
    browser.click(f"{HEADINGS}[0].querySelector('button')")
    assert browser.evaluate("document.title") == "<script>document.title='broken'</script>"
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
@pytest.mark.parametrize("name", ["every_part", "hostile"])
def test_the_page_fits_every_window(browser, pages, name, width):
    """Wide tables scroll inside their box, never the page; some box has to, in a narrow window."""
    browser.open(pages[name], width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    inside = "[...document.querySelectorAll('.scroll')].some(box => box.scrollWidth > box.clientWidth)"
    assert browser.evaluate(inside) or width > 360


def test_dark_readers_get_a_dark_page_with_white_pictures(browser, pages):
    for scheme, dark in (("light", False), ("dark", True)):
        browser.open(pages["every_part"], prefers_color_scheme=scheme)
        corner = pixels(browser.screenshot())[5, 5]
        assert (corner.max() < 64) == dark
        picture = pixels(browser.screenshot("document.images[0]"))
        margin, inside = picture[4, 40:-40], picture[12, 40:-40]
        assert (margin == 255).all()
        assert (inside == 255).all()
    page = "getComputedStyle(document.querySelector('{}')).{}"
    for place, back in (("td", "td"), (".origin", "body"), (".notices", ".notices")):
        ink, paper = (browser.evaluate(page.format(*each)) for each in ((place, "color"), (back, "backgroundColor")))
        assert contrast(ink, paper) > 4.5, place


def contrast(*colours):
    """The ratio of the guidelines for accessible pages (WCAG 2)."""
    lights = []
    for colour in colours:
        shares = np.array([int(each) / 255 for each in re.findall(r"\d+", colour)[:3]])
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_the_page_can_be_printed(browser, pages):
    browser.open(pages["every_part"])
    printed = browser.print()
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6


BROKEN = {
    "console": "<script>console.error('no')</script>",
    "warning": "<script>console.warn('no')</script>",
    "exception": "<script>throw new Error('no')</script>",
    "policy": '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'"><script>1</script>',
    "style": '<meta http-equiv="Content-Security-Policy" content="style-src \'none\'"><p style="color: red">x</p>',
    "missing": '<img src="nowhere.png">',
    "network": '<img src="http://localhost:9/x.png">',
}


@pytest.mark.parametrize("fault", BROKEN)
def test_the_browser_would_tell_of_faults(browser, tmp_path, fault):
    """The tests above can fail."""
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><title>x</title>{BROKEN[fault]}", encoding="utf-8")
    browser.open(page.as_uri())
    assert browser.complaints() != []
    assert (browser.requests() != [page.as_uri()]) == (fault in ("missing", "network"))


def test_a_missing_browser_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() is None
