// SPDX-License-Identifier: Apache-2.0
// Draws the page's plots, gives out their numbers, and sorts its tables.
"use strict";

const FONT = "system-ui, sans-serif";

// Colours are variables of page.css, so that a plot follows light, dark and paper without being drawn again.
const CONFIG = {
  background: null,
  font: FONT,
  view: {stroke: null},
  axis: {
    labelColor: "var(--ink-soft)", titleColor: "var(--ink)", gridColor: "var(--rule)", domainColor: "var(--line)",
    tickColor: "var(--line)", labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8,
    maxExtent: 400,
  },
  legend: {labelColor: "var(--ink)", titleColor: "var(--ink-soft)", labelFontSize: 12, titleFontSize: 11,
           titleFontWeight: 400},
  header: {labelColor: "var(--ink)", titleColor: "var(--ink-soft)", labelFontSize: 11, titleFontSize: 11,
           titleFontWeight: 400},
  bar: {stroke: "var(--paper)"},
  rule: {color: "var(--series-1)"},
  point: {color: "var(--series-1)"},
  range: {category: Array.from({length: 12}, (_, i) => `var(--series-${i + 1})`)},
};

function tableOf(figure) {
  return JSON.parse(figure.querySelector("script").textContent);
}

function withData(table) {
  const parse = {};
  for (const c of table.columns) parse[c.field] = c.number ? "number" : "string";
  const values = table.rows.map(row => Object.fromEntries(row.map((cell, i) => [table.columns[i].field, cell])));
  return {...table.spec, data: {values, format: {parse}}};
}

function csvOf(table) {
  const cell = text => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  return [table.columns.map(c => c.title), ...table.rows].map(row => row.map(cell).join(",") + "\n").join("");
}

async function draw(figure) {
  const place = figure.querySelector(".plot");
  try {
    const spec = vegaLite.compile(withData(tableOf(figure)), {config: CONFIG}).spec;
    const runtime = vega.parse(spec, null, {ast: true});
    const nowhere = {load: () => Promise.reject(new Error("nothing is loaded")),
                     sanitize: () => Promise.reject(new Error("nothing is linked"))};
    const view = new vega.View(runtime, {expr: vegaInterpreter, loader: nowhere, renderer: "svg", hover: false});
    await view.initialize(place).runAsync();
  } catch (error) {
    place.textContent = "This plot could not be drawn: " + error.message;
    console.error(error);
  }
}

function offerCsv(link) {
  const text = csvOf(tableOf(link.closest("figure")));
  const url = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  link.href = url;
  setTimeout(() => {
    URL.revokeObjectURL(url);
    link.href = "#" + link.closest("figure").id;
  }, 10000);
}

function sortBy(header) {
  const table = header.closest("table");
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const keys = new Map(Array.from(body.rows, row => {
    const cell = row.cells[header.cellIndex];
    const text = cell.dataset.v ?? cell.textContent;
    return [row, {text, number: text.trim() === "" ? NaN : Number(text.replaceAll(",", ""))}];
  }));
  const order = (a, b) => {
    const x = keys.get(a), y = keys.get(b);
    if (isNaN(x.number) && isNaN(y.number)) return x.text.localeCompare(y.text, "en", {numeric: true});
    if (isNaN(x.number) || isNaN(y.number)) return isNaN(x.number) - isNaN(y.number);
    return x.number - y.number;
  };
  const rows = Array.from(body.rows).sort((a, b) => down ? order(b, a) : order(a, b));
  body.append(...rows);
}

for (const link of document.querySelectorAll("a.csv")) link.addEventListener("click", () => offerCsv(link));
for (const button of document.querySelectorAll("th button"))
  button.addEventListener("click", () => sortBy(button.closest("th")));

// What is closed stays closed on paper, but for what the reader has opened.
(async () => {
  for (const figure of document.querySelectorAll("figure")) await draw(figure);
  document.documentElement.dataset.drawn = "yes";
})();
