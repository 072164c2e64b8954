"""A report as a folder: an HTML page, the same as Markdown, and each picture in two formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import FileError
from discreet.research.report import html, markdown
from discreet.research.report.document import Document
from discreet.research.report.drawing import draw_all
from discreet.storage.writing import whole_file


def write_report(document: Document, folder: str | Path, pictures_of_its_kind: Sequence[str] = ()) -> list[Path]:
    """Write report.html, report.md and the pictures; existing files of these names are replaced.

    No file is written until everything is drawn; pages are written after their pictures. If the report.md of an earlier
    run shows a picture that this report does not have, and its name is among `pictures_of_its_kind`, the picture is
    removed: readers would take it for a picture of this run. No other file is touched.

    Returns
    -------
    The paths: report.html, report.md, then the pictures in their order, each as .png and .svg.

    Raises
    ------
    FileError : the folder cannot be made or written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}; check the path") from None
    drawings = draw_all(document.pictures())
    stale = [name for name in _shown_before(folder, pictures_of_its_kind) if name not in drawings]
    pages = {"report.html": html.write(document, drawings), "report.md": markdown.write(document)}
    pictures = {f"{name}.png": drawing.png for name, drawing in drawings.items()}
    pictures |= {f"{name}.svg": drawing.svg for name, drawing in drawings.items()}
    for name, content in (*pictures.items(), *((name, page.encode()) for name, page in pages.items())):
        with whole_file(folder / name, binary=True) as file:
            file.write(content)
    for name in stale:
        for kind in ("png", "svg"):
            (folder / f"{name}.{kind}").unlink(missing_ok=True)
    return [folder / name for name in (*pages, *(f"{name}.{kind}" for name in drawings for kind in ("png", "svg")))]


def _shown_before(folder: Path, names: Sequence[str]) -> list[str]:
    """Those of the names that the report in the folder shows; empty without a readable report."""
    try:
        text = (folder / "report.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [name for name in names if f"({name}.png)" in text]
