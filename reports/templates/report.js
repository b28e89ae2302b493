"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const one = (selector) => document.querySelector(selector);
  const say = (text) => { one("#said").textContent = text; };

  // Copying: the clipboard where the browser grants it, else a hidden field, else a selection.
  const copyByField = (text) => {
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("readonly", "");
    field.setAttribute("aria-hidden", "true");
    field.className = "sr";
    document.body.append(field);
    field.select();
    let done = false;
    try { done = document.execCommand("copy"); } catch { done = false; }
    field.remove();
    return done;
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyByField(text);
    }
  };
  all("button.copy").forEach((button) => {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      const done = await copy(button.dataset.copy ?? code.textContent);
      button.focus();
      const label = button.firstChild;
      const usual = button.dataset.label ??= label.textContent;
      if (done) {
        label.textContent = "Copied";
        say("Copied");
      } else {
        code.closest(".block details")?.setAttribute("open", "");
        getSelection().selectAllChildren(code);
        label.textContent = "Press Ctrl+C";
        say("Selected; press Control C to copy");
      }
      setTimeout(() => { label.textContent = usual; }, 2000);
    });
  });

  // Cards: open what a link leads to, and everything for printing.
  const cards = all("details.card");
  const openTarget = () => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (target instanceof HTMLDetailsElement && !(target.open && target.checkVisibility())) {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#f-']") : null;
    if (link && link.hash === location.hash) { openTarget(); }
  });
  const setAll = (open) => cards.forEach((card) => { if (!card.hidden) { card.open = open; } });
  one("#unfold")?.addEventListener("click", () => setAll(true));
  one("#fold")?.addEventListener("click", () => setAll(false));
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details").filter((item) => !item.open);
    closed.forEach((item) => { item.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((item) => { item.open = false; }));

  // Filters: a text, and one choice for each property that findings have.
  const filter = one("#filter");
  const choices = all("select.choice");
  const applyFilters = () => {
    const wanted = filter.value.trim().toLowerCase();
    const chosen = choices.filter((choice) => choice.value);
    const fits = (card) => chosen.every((choice) => card.dataset[choice.name].split("\n").includes(choice.value));
    const filtering = Boolean(wanted) || chosen.length > 0;
    let shown = 0;
    cards.forEach((card) => {
      const hit = fits(card) && (!wanted || card.textContent.toLowerCase().includes(wanted));
      card.hidden = !hit;
      shown += hit ? 1 : 0;
      const row = one(`tr[data-for="${card.id}"]`);
      if (row) { row.hidden = !hit; }
    });
    one("#filter-count").textContent = filtering ? `${shown} of ${cards.length} findings match` : "";
  };
  filter?.addEventListener("input", applyFilters);
  choices.forEach((choice) => choice.addEventListener("change", applyFilters));

  // Tables: each column has the heading that stands lowest over it.
  const lowestHeadings = (head) => {
    const grid = Array.from(head.rows, () => []);
    Array.from(head.rows).forEach((row, top) => {
      let left = 0;
      Array.from(row.cells).forEach((cell) => {
        while (grid[top][left]) { left += 1; }
        for (let y = top; y < Math.min(grid.length, top + cell.rowSpan); y += 1) {
          for (let x = left; x < left + cell.colSpan; x += 1) { grid[y][x] = cell; }
        }
        left += cell.colSpan;
      });
    });
    return grid[grid.length - 1];
  };
  // Sorting: a button in each heading; by data-sort, or by numbers with their units, or as text.
  const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, k: 1e3, M: 1e6, G: 1e9, "%": 1, "×": 1 };
  const numeric = /^[^\p{L}\d-]*(-?\d[\d,]*(?:\.\d+)?)(?:\s*(ns|µs|ms|s|kB|MB|GB|B|k|M|G|%|×))?(?=[\s,(]|$)/u;
  const sortKey = (row, column) => {
    const cell = row.cells[column];
    const text = (cell?.dataset.sort ?? cell?.textContent ?? "").trim();
    const found = numeric.exec(text);
    return found ? Number(found[1].replace(/,/g, "")) * (units[found[2]] ?? 1) : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) { return a < b ? -1 : a > b ? 1 : 0; }
    return typeof a === "number" ? -1 : 1;
  };
  const sortable = (table, headings) => headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = Array.from(body.rows).map((row) => [sortKey(row, column), row]);
      rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
      body.append(...rows.map((pair) => pair[1]));
      say(`Sorted by ${button.textContent}, ${up ? "ascending" : "descending"}`);
    });
  });
  // On a narrow screen a row is a block, and each value has its heading before it. What a browser
  // says of such a table to a screen reader would be lost, so that roles say it.
  const stacking = (table, headings) => {
    table.classList.add("stacks");
    const role = (items, name) => Array.from(items).forEach((item) => item.setAttribute("role", name));
    role([table], "table");
    role(table.querySelectorAll("thead, tbody"), "rowgroup");
    role(table.rows, "row");
    role(table.tHead.querySelectorAll("th"), "columnheader");
    role(table.querySelectorAll("tbody th"), "rowheader");
    role(table.querySelectorAll("td"), "cell");
    Array.from(table.tBodies[0].rows).forEach((row) => {
      let column = 0;
      Array.from(row.cells).forEach((cell) => {
        cell.dataset.label = cell.colSpan > 1 ? "both" : headings[column]?.textContent.trim() ?? "";
        column += cell.colSpan;
      });
    });
  };
  all("table").filter((table) => table.tHead && table.tBodies[0] && !table.matches(".aligned")).forEach((table) => {
    const headings = lowestHeadings(table.tHead);
    const rows = Array.from(table.tBodies[0].rows);
    stacking(table, headings);
    const plain = rows.every((row) => Array.from(row.cells).every((cell) => cell.colSpan === 1 && cell.rowSpan === 1));
    if (plain && rows.length > 1 && !table.matches(".stages")) { table.classList.add("sorts"); sortable(table, headings); }
  });

  // Tooltips on hover and on focus; Escape puts them away. Without this script, title does it.
  const tooltip = one("#tooltip");
  const show = (item) => {
    tooltip.textContent = item.dataset.tip;
    tooltip.hidden = false;
    const at = item.getBoundingClientRect();
    const box = tooltip.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left + at.width / 2 - box.width / 2), innerWidth - box.width - 8);
    const above = at.top - box.height - 6;
    tooltip.style.left = `${left}px`;
    tooltip.style.top = `${above > 4 ? above : at.bottom + 6}px`;
  };
  const hide = () => { tooltip.hidden = true; };
  all(".tip[title], .mark[title]").forEach((item) => {
    item.dataset.tip = item.title;
    item.removeAttribute("title");
    item.addEventListener("pointerenter", () => show(item));
    item.addEventListener("pointerleave", hide);
    item.addEventListener("focus", () => show(item));
    item.addEventListener("blur", hide);
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") { hide(); } });
  addEventListener("scroll", hide, { capture: true, passive: true });
})();
