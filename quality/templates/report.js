// Draws the dataset's plots: one facet at a time, when it comes into view. Data and choices come from the page.
"use strict";
const pictures = new Map(JSON.parse(document.getElementById("data").textContent).map((each) => [each.name, each]));
// Red below nought, blue above: ColorBrewer RdBu, which the colour-blind can tell apart.
const SIGNED = [[0, "#b2182b"], [0.25, "#ef8a62"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function trace(picture, facet) {
  const part = picture.facets[facet];
  switch (picture.kind) {
    case "heatmap": {
      const signed = part.low < 0 && part.high > 0;
      const edge = Math.max(Math.abs(part.low), Math.abs(part.high)) || 1;
      return {
        type: "heatmap", x: part.x, y: part.y, z: part.z, hoverongaps: false,
        zmin: signed ? -edge : part.low, zmax: signed ? edge : part.high,
        colorscale: signed ? SIGNED : "Cividis",
        colorbar: { title: { text: picture.valueTitle }, thickness: 12 },
        hovertemplate: "%{x} %{y}: %{z:.3g}<extra></extra>",
      };
    }
    case "histogram":
      return { type: "bar", x: part.x, y: part.y, width: part.width, marker: { color: css("--accent") } };
    case "bar":
      return { type: "bar", x: part.x, y: part.y, marker: { color: css("--accent") } };
    default:
      return { type: "scattergl", mode: "markers", x: part.x, y: part.y, marker: { color: css("--accent"), size: 4, opacity: 0.6 } };
  }
}

function layout(picture, facet) {
  const grid = { gridcolor: css("--line"), zerolinecolor: css("--line"), automargin: true };
  const category = picture.kind === "heatmap" || picture.kind === "bar" ? { type: "category" } : {};
  const rows = picture.kind === "heatmap" ? picture.facets[facet].y.length : 0;
  return {
    height: rows ? Math.max(220, Math.min(900, 110 + 19 * rows)) : 300,
    margin: { l: 50, r: 10, t: 34, b: 50 }, modebar: { bgcolor: "transparent", color: css("--quiet"), activecolor: css("--accent") },
    paper_bgcolor: "transparent", plot_bgcolor: picture.kind === "heatmap" ? css("--gap") : "transparent",
    font: { color: css("--ink"), family: "inherit" },
    xaxis: { ...grid, ...category, title: { text: picture.xTitle }, showgrid: picture.kind !== "heatmap" },
    yaxis: { ...grid, ...(rows ? { type: "category", autorange: "reversed", dtick: 1, showgrid: false } : {}), title: { text: picture.yTitle } },
    bargap: 0.05, dragmode: "zoom",
  };
}

function draw(figure) {
  const picture = pictures.get(figure.dataset.picture);
  const select = figure.querySelector("select");
  const facet = select ? select.value : Object.keys(picture.facets)[0];
  Plotly.react(figure.querySelector(".plot"), [trace(picture, facet)], layout(picture, facet), {
    responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"],
  });
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
  }
}, { rootMargin: "300px" });

for (const figure of document.querySelectorAll("figure[data-picture]")) {
  if (!pictures.has(figure.dataset.picture)) continue;
  seen.observe(figure);
  figure.querySelector("select")?.addEventListener("change", () => draw(figure));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const figure of document.querySelectorAll("figure[data-picture]")) if (figure.querySelector(".js-plotly-plot")) draw(figure);
});
