// Called from the tests, in the page.
"use strict";

var tables = () => [...document.querySelectorAll("table.sortable")];
var button = (table, column) => tables()[table].tHead.rows[0].cells[column].querySelector("button");

// After two frames and whatever the page put off for less than this.
var later = () => new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), 100));

var isSeen = (element) => {
  const box = element.getBoundingClientRect();
  return element.checkVisibility({ visibilityProperty: true }) && box.width > 0 && box.height > 0;
};

var rendered = () => {
  const faults = [];
  const title = document.querySelector("h1");
  if (document.compatMode !== "CSS1Compat") faults.push("the page has no doctype");
  if (!document.documentElement.lang) faults.push("the page has no language");
  if (!document.title.trim()) faults.push("the page has no title");
  if (!title || !isSeen(title) || !title.innerText.trim()) faults.push("no heading is seen");
  if (!tables().length) faults.push("there is no table");
  if (!document.querySelector("figure[data-points]")) faults.push("there is no figure");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const twice = ids.filter((id, place) => ids.indexOf(id) !== place);
  if (twice.length) faults.push(`ids are there twice: ${twice}`);
  for (const link of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(link.hash.slice(1))) faults.push(`nothing is at ${link.hash}`);
  for (const figure of document.querySelectorAll("figure[data-points]"))
    if (!isSeen(figure)) faults.push(`figure ${figure.id} is not seen`);
  for (const table of tables())
    if (!isSeen(table)) faults.push(`table ${table.caption?.innerText} is not seen`);
  return faults;
};

// How many heads every table has, of which how many are buttons.
var heads = () => tables().map((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const buttons = heads.filter((head) => head.querySelector("button")?.tabIndex >= 0);
  return {
    caption: table.caption?.innerText ?? "",
    heads: heads.map((head) => head.innerText.trim()),
    buttons: buttons.length,
  };
});

// A head's column, after its button was brought into view and has the focus. The mouse must be at
// `place` to press it, which is null where something else is there.
var see = (table, column) => {
  const target = button(table, column);
  target.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  target.focus({ preventScroll: true });
  const box = target.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const isThere = target.contains(document.elementFromPoint(x, y));
  return { order: order(table, column), place: isThere ? [x, y] : null };
};

// Every column's, before and after each of two clicks that a script does.
var clicked = (table) => [...tables()[table].tHead.rows[0].cells].map((_, column) => {
  const orders = [order(table, column)];
  for (let click = 0; click < 2; click++) {
    button(table, column).click();
    orders.push(order(table, column));
  }
  return orders;
});

var isFocused = (table, column) => document.activeElement === button(table, column);

// Of a text too long to send; FNV-1a.
var digest = (text) => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
};

// The order of a column's cells, which was not worked out by the page's own script.
var order = (table, column) => {
  const body = tables()[table].tBodies[0];
  const cells = [...body.rows].map((row) => row.cells[column]);
  const number = (cell) => ("value" in cell.dataset ? Number(cell.dataset.value) : NaN);
  const isEmpty = (cell) => !cell.textContent.trim();
  const filled = cells.filter((cell) => !isEmpty(cell));
  const numeric = filled.every((cell) => Number.isFinite(number(cell)));
  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) =>
    numeric ? number(a) - number(b) : collator.compare(a.textContent, b.textContent);
  const signs = filled.slice(1).map((cell, place) => Math.sign(compare(filled[place], cell)));
  const emptyLast = cells.slice(0, filled.length).every((cell) => !isEmpty(cell));
  return {
    sorts: [...tables()[table].tHead.rows[0].cells].map((head) => head.getAttribute("aria-sort")),
    ascending: emptyLast && signs.every((sign) => sign <= 0),
    descending: emptyLast && signs.every((sign) => sign >= 0),
    rows: digest([...body.rows].map((row) => row.outerHTML).sort().join("\n")),
  };
};

// The points of the page's JSON.
var listed = () => JSON.parse(document.getElementById("points").textContent);

// Every figure's points as they are drawn.
var drawn = () => Object.fromEntries([...document.querySelectorAll("figure[data-points]")].map((figure) => {
  const svg = figure.querySelector("svg");
  const frame = svg.getBoundingClientRect();
  const points = [...svg.querySelectorAll(".point")].map((point) => {
    const box = point.getBoundingClientRect();
    const isInside = box.left >= frame.left - 1 && box.right <= frame.right + 1
      && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    return {
      tag: point.tagName,
      value: [Number(point.dataset.x), Number(point.dataset.y)],
      middle: [box.x + box.width / 2, box.y + box.height / 2],
      seen: isSeen(point) && isInside,
    };
  });
  return [figure.id, { count: Number(figure.dataset.points), points }];
}));
