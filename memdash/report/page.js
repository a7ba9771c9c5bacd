"use strict";
(() => {
  const FONT = '"Source Sans 3", "Source Sans Pro", system-ui, sans-serif';
  const OPTIONS = { displayModeBar: false, responsive: true };
  const PAPER = 680; // pixels between the margins of a sheet of A4
  const night = matchMedia("(prefers-color-scheme: dark)");
  const seen = new Set(); // the charts that have been drawn, each when it first came near the window
  let carried = null; // the figures, once they are unpacked

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  function figure(place, dark) {
    const found = structuredClone(carried.figures[place]);
    for (const [way, value] of dark ? found.dark : []) {
      const last = way.pop();
      way.reduce((inner, name) => inner[name], found.figure)[last] = value;
    }
    const { data, layout } = found.figure;
    return { data, layout: { ...layout, template: carried.template, font: { ...layout.font, family: FONT } } };
  }

  function draw(chart, { dark = night.matches, width } = {}) {
    const { data, layout } = figure(Number(chart.dataset.figure), dark);
    Plotly.react(chart, data, width ? { ...layout, width } : layout, OPTIONS);
    seen.add(chart);
  }

  function watch() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting && !seen.has(target)) draw(target);
        }
      },
      { rootMargin: "400px" },
    );
    document.querySelectorAll(".chart").forEach((chart) => observer.observe(chart));
    night.addEventListener("change", () => seen.forEach((chart) => draw(chart)));
  }

  async function charts() {
    if (!document.querySelector(".chart")) return;
    const [library, figures] = await Promise.all([unpack("library"), unpack("figures")]);
    const script = document.createElement("script");
    script.textContent = library;
    document.head.append(script);
    carried = JSON.parse(figures);
    watch();
    document.documentElement.dataset.charts = "ready";
  }

  function choose() {
    const select = document.getElementById("script");
    if (!select) return;
    const show = () => {
      for (const section of document.querySelectorAll("[data-script]")) {
        section.hidden = section.dataset.script !== select.value;
      }
    };
    select.closest("label").hidden = false;
    select.addEventListener("change", show);
    show();
  }

  function amount(text) {
    const plain = text.replaceAll("−", "-").replace(/[,$]/g, "");
    const part = plain.match(/^(\d+) of (\d+)/);
    if (part) return part[1] / part[2];
    const times = [...plain.matchAll(/([\d.]+) (h|min|s)\b/g)];
    if (times.length) return times.slice(0, 3).reduce((sum, [, size, unit]) => sum + size * { h: 3600, min: 60, s: 1 }[unit], 0);
    const number = Number.parseFloat(plain.replace(/^[<>±+]/, ""));
    return Number.isNaN(number) ? null : number;
  }

  function sorted(rows, column, numeric, rising) {
    const key = (row) => (numeric ? amount(row.cells[column].textContent) : row.cells[column].textContent);
    const order = (one, other) => (numeric ? one - other : one.localeCompare(other)) * (rising ? 1 : -1);
    return rows
      .map((row) => [key(row), row])
      .sort(([one], [other]) => (one === null) - (other === null) || order(one, other))
      .map(([, row]) => row);
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.textContent) return;
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const body = table.tBodies[0];
        body.append(...sorted([...body.rows], column, head.classList.contains("number"), rising));
      });
    });
  }

  function printable() {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details:not([open])")];
      closed.forEach((one) => (one.open = true));
      const shown = [...document.querySelectorAll(".chart")].filter((one) => one.offsetParent);
      if (carried) shown.forEach((chart) => draw(chart, { dark: false, width: PAPER }));
    });
    addEventListener("afterprint", () => {
      closed.forEach((one) => (one.open = false));
      if (carried) seen.forEach((chart) => draw(chart));
    });
  }

  choose();
  document.querySelectorAll("table").forEach(sortable);
  printable();
  charts().catch((problem) => {
    console.warn("memdash: the charts cannot be drawn:", problem);
    document.querySelectorAll(".chart").forEach((chart) => {
      chart.textContent = "This browser cannot unpack the charts; one from 2023 or later can.";
      chart.classList.add("quiet");
    });
  });
})();
