"use strict";
// Headings become buttons: a first press sorts upwards, a second downwards, a third restores the order of the report.
// Cells carry their number in data-key; words come after numbers, and cells that say nothing (data-missing) last.
(() => {
  const words = new Intl.Collator("en", { numeric: true });

  const compare = (one, other, sign) => {
    if (one.missing || other.missing) return one.missing - other.missing;
    if (one.key !== null && other.key !== null) return one.key === other.key ? 0 : one.key < other.key ? -sign : sign;
    if (one.key !== null || other.key !== null) return one.key !== null ? -1 : 1;
    return sign * words.compare(one.text, other.text);
  };

  const read = (row, place) => {
    const cell = row.cells[place];
    const key = cell.dataset.key;
    return {
      row,
      key: key === undefined ? null : Number(key),
      missing: "missing" in cell.dataset,
      text: cell.textContent,
    };
  };

  const sort = (table, rows, place, way) => {
    const sorted = rows.map((row) => read(row, place));
    if (way !== "none") sorted.sort((one, other) => compare(one, other, way === "ascending" ? 1 : -1));
    table.tBodies[0].append(...sorted.map((each) => each.row));
    [...table.tHead.rows[0].cells].forEach((head, other) => {
      head.setAttribute("aria-sort", other === place ? way : "none");
    });
  };

  const next = { none: "ascending", ascending: "descending", descending: "none" };

  for (const table of document.querySelectorAll("table")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, rows, place, next[head.getAttribute("aria-sort")]));
    });
  }
})();
