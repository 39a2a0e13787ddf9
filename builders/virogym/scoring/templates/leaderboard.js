"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const show = v => v === null ? "-" : v.toFixed(3);
const colour = {};
const names = [];
for (const assay of data.assays) for (const m of assay.models) if (!(m.name in colour)) { colour[m.name] = null; names.push(m); }
let own = 0, rings = 0;
for (const m of names) colour[m.name] = m.baseline ? ["ring", rings++] : [`var(--c${own++ % 8})`, 0];

function mark(m, x, y) {
  const [c, n] = colour[m.name];
  if (c !== "ring") return `<circle cx="${x}" cy="${y}" r="5" fill="${c}"/>`;
  const style = `fill="var(--paper)" stroke="var(--base)" stroke-width="2"`;
  if (n === 0) return `<circle cx="${x}" cy="${y}" r="4" ${style}/>`;
  if (n === 1) return `<rect x="${x - 3.5}" y="${y - 3.5}" width="7" height="7" ${style}/>`;
  return `<path d="M${x} ${y - 5}L${x + 5} ${y + 4}L${x - 5} ${y + 4}Z" ${style}/>`;
}

function legend() {
  document.getElementById("legend").innerHTML = names.map(m =>
    `<span><svg width="14" height="14" style="display:inline;vertical-align:-2px">${mark(m, 7, 7)}</svg> ${escape(m.name)}</span>`).join("");
}

function escape(text) { const e = document.createElement("i"); e.textContent = text; return e.innerHTML; }

function plot(k) {
  const row = 22, left = 360, width = 1180, right = 20;
  const all = data.assays.flatMap(a => a.models.map(m => m.scores[k])).filter(v => v !== null);
  const low = Math.min(0, ...all), high = Math.max(...all), pad = (high - low) * 0.05;
  const x = v => left + (v - low + pad) / (high - low + 2 * pad) * (width - left - right);
  const step = [0.02, 0.05, 0.1, 0.2, 0.5].find(s => (high - low) / s <= 10) || 1;
  let y = 24, out = "", last = null;
  for (const a of data.assays) {
    if (a.phenotype !== last) { y += 12; out += `<text x="0" y="${y + 4}" class="q">${escape(a.phenotype.replace(/_/g, " "))}</text>`; last = a.phenotype; y += row; }
    const known = a.models.filter(m => m.scores[k] !== null);
    const ends = known.map(m => x(m.scores[k]));
    out += `<text x="12" y="${y + 4}">${escape(a.assay_id)}</text><line class="span" x1="${Math.min(...ends)}" x2="${Math.max(...ends)}" y1="${y}" y2="${y}"/>`;
    for (const m of [...known].sort((p, q) => q.baseline - p.baseline))
      out += `<g><title>${escape(m.name)} on ${escape(a.assay_id)}: ${show(m.scores[k])} (${a.rows.toLocaleString("en")} substitutions)</title>${mark(m, x(m.scores[k]), y)}</g>`;
    y += row;
  }
  let grid = "";
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9; v += step)
    grid += `<line class="${Math.abs(v) < 1e-9 ? "zero" : "grid"}" x1="${x(v)}" x2="${x(v)}" y1="22" y2="${y}"/><text class="q" x="${x(v)}" y="14" text-anchor="middle">${v.toFixed(2)}</text>`;
  document.getElementById("plot").innerHTML = `<svg viewBox="0 0 ${width} ${y + 6}" role="img" aria-label="Scores by assay">${grid}${out}</svg>`;
  const head = names.map(m => `<th>${escape(m.name)}</th>`).join("");
  const body = data.assays.map(a => `<tr><td>${escape(a.assay_id)}</td><td>${a.rows.toLocaleString("en")}</td>` + names.map(n => {
    const m = a.models.find(each => each.name === n.name);
    return `<td>${m ? show(m.scores[k]) : ""}</td>`;
  }).join("") + "</tr>").join("");
  document.getElementById("numbers").innerHTML = `<table><thead><tr><th>assay</th><th>rows</th>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function values() {
  const form = document.getElementById("form").value, way = document.getElementById("average").value;
  for (const cell of document.querySelectorAll("#ranking td.value")) {
    cell.querySelector("span").textContent = cell.getAttribute(`data-${form}-${way}`);
    cell.querySelector("small").textContent = way === "mean" ? cell.getAttribute(`data-${form}-interval`) : "";
  }
}

function sortable(table) {
  table.querySelectorAll("th[data-sort]").forEach((th, i) => th.addEventListener("click", () => {
    const down = th.dataset.sort !== "down";
    table.querySelectorAll("th[data-sort]").forEach(other => { other.dataset.sort = ""; });
    th.dataset.sort = down ? "down" : "up";
    const key = tr => { const t = tr.cells[i].firstChild.textContent; const v = parseFloat(t); return Number.isNaN(v) ? t : v; };
    const rows = [...table.tBodies[0].rows].sort((p, q) => (key(p) > key(q) ? -1 : key(p) < key(q) ? 1 : 0) * (down ? 1 : -1));
    table.tBodies[0].append(...rows);
  }));
}

if (document.getElementById("ranking")) {
  legend(); plot(0); sortable(document.getElementById("ranking"));
  document.getElementById("metric").addEventListener("change", e => plot(Number(e.target.value)));
  for (const id of ["form", "average"]) document.getElementById(id).addEventListener("change", values);
}
