"use strict";
// The last script of the page: checks its figures and tables, and replaces it by the list of faults.
const isSeen = (element) => {
  const box = element.getBoundingClientRect();
  return element.checkVisibility({ visibilityProperty: true }) && box.width > 0 && box.height > 0;
};
const isInside = (inner, outer) =>
  inner.left >= outer.left - 1 && inner.right <= outer.right + 1
  && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;

const checkFigures = () => {
  const listed = JSON.parse(document.getElementById("points").textContent);
  const figures = [...document.querySelectorAll("figure[data-points]")];
  if (!figures.length) faults.push("there is no figure");
  for (const figure of figures) {
    const svg = figure.querySelector("svg");
    const points = [...svg.querySelectorAll(".point")];
    const seen = points.filter((point) =>
      isSeen(point) && isInside(point.getBoundingClientRect(), svg.getBoundingClientRect()));
    const expected = Object.values(listed[figure.id] ?? {}).flat();
    const texts = (pairs) => pairs.map(String).sort().join(" ");
    if (texts(points.map((point) => [+point.dataset.x, +point.dataset.y])) !== texts(expected))
      faults.push(`${figure.id}: draws other points than it lists`);
    if (seen.length !== +figure.dataset.points)
      faults.push(`${figure.id}: ${seen.length} of ${figure.dataset.points} points are visible`);
  }
};

// Numbers by data-value, texts alphabetically; deliberately not the page's code.
const isSorted = (cells, sign) => {
  const filled = cells.filter((cell) => cell.textContent.trim());
  const isNumeric = filled.every((cell) => "value" in cell.dataset);
  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) =>
    isNumeric ? a.dataset.value - b.dataset.value : collator.compare(a.textContent, b.textContent);
  const emptyLast = cells.slice(0, filled.length).every((cell) => cell.textContent.trim());
  return emptyLast && filled.slice(1).every((cell, i) => sign * compare(filled[i], cell) <= 0);
};

const checkTables = () => {
  const tables = [...document.querySelectorAll("table.sortable")];
  if (!tables.length) faults.push("there is no table");
  for (const table of tables) {
    const name = table.caption?.innerText ?? "a table";
    const rows = () => [...table.tBodies[0].rows];
    const all = rows().map((row) => row.outerHTML).sort().join();
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      for (const click of [1, 2]) {
        head.querySelector("button")?.click();
        const sign = { ascending: 1, descending: -1 }[head.getAttribute("aria-sort")];
        if (!sign || !isSorted(rows().map((row) => row.cells[column]), sign))
          faults.push(`${name}: column ${column} is not sorted after click ${click}`);
      }
    });
    if (rows().map((row) => row.outerHTML).sort().join() !== all) faults.push(`${name}: other rows`);
  }
};

addEventListener("load", () => {
  try {
    checkFigures();
    checkTables();
  } catch (error) {
    faults.push(`error: ${error}`);
  }
  const result = document.createElement("pre");
  result.id = "smoke";
  result.textContent = faults.length ? faults.join("\n") : "no fault";
  document.body.replaceChildren(result);
});
