"use strict";
// Numbers are sorted by data-value, texts alphabetically; empty cells come last in both directions.
const valueOf = (row, column) => {
  const cell = row.cells[column];
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
};
const isEmpty = (value) => value === "" || Number.isNaN(value);
const compare = (a, b) =>
  typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });

const sort = (table, head) => {
  const column = head.cellIndex;
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [valueOf(row, column), row]);
  rows.sort(([a], [b]) =>
    isEmpty(a) || isEmpty(b) ? isEmpty(a) - isEmpty(b) : sign * compare(a, b));
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  body.append(...rows.map(([, row]) => row));
};

// A click event is also sent when the button is pressed with the keyboard.
for (const table of document.querySelectorAll("table.sortable"))
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) sort(table, button.closest("th"));
  });
