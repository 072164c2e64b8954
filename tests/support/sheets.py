"""Small Excel files, written by hand: no package that writes them is needed."""

import zipfile
from xml.sax.saxutils import escape

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class Date(int):
    """The number of a day, as Excel stores dates."""


def _cell(place, row, value):
    name = f'r="{chr(65 + place)}{row}"'
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c {name} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Date):
        return f'<c {name} s="1"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c {name}><v>{value!r}</v></c>"
    if value.startswith("#"):
        return f'<c {name} t="e"><v>{value}</v></c>'
    return f'<c {name} t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def _sheet(rows):
    lines = [
        f'<row r="{n}">{"".join(_cell(k, n, v) for k, v in enumerate(row))}</row>' for n, row in enumerate(rows, 1)
    ]
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def write_sheets(path, **sheets):
    """Write an .xlsx file with these sheets, each a list of rows: texts, numbers, truth values, Date, #N/A or None."""
    kinds = {"rels": "application/vnd.openxmlformats-package.relationships+xml", "xml": "application/xml"}
    defaults = "".join(f'<Default Extension="{end}" ContentType="{kind}"/>' for end, kind in kinds.items())
    book = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    override = f'<Override PartName="/xl/workbook.xml" ContentType="{book}"/>'
    names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(sheets, 1))
    links = [("styles", "styles.xml", "style")]
    links += [("worksheet", f"worksheets/sheet{n}.xml", f"s{n}") for n in range(1, len(sheets) + 1)]
    related = "".join(f'<Relationship Id="{mark}" Type="{OFFICE}/{kind}" Target="{to}"/>' for kind, to, mark in links)
    start = f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types">{defaults}{override}</Types>')
        file.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{start}</Relationships>')
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>'
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'
        )
        styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
        file.writestr("xl/styles.xml", f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>')
        for number, rows in enumerate(sheets.values(), 1):
            file.writestr(f"xl/worksheets/sheet{number}.xml", _sheet(rows))
    return path
