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
      const done = await copy(button.dataset.copy);
      button.focus();
      const label = button.firstChild;
      if (done) {
        label.textContent = "Copied";
        say("Copied");
      } else {
        getSelection().selectAllChildren(button.parentElement.querySelector("code"));
        label.textContent = "Press Ctrl+C";
        say("Selected; press Control C to copy");
      }
      setTimeout(() => { label.textContent = "Copy"; }, 2000);
    });
  });

  // Cards: open what a link leads to, and everything for printing.
  const cards = all("details.card");
  const openTarget = () => {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (target instanceof HTMLDetailsElement && !(target.open && target.checkVisibility())) {
      target.open = true;
      const kind = target.closest("details.kind-of");
      if (kind) { kind.open = true; }
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#f-']") : null;
    if (link && link.hash === location.hash) { openTarget(); }
  });
  const kinds = all("details.kind-of");
  // Of many, the kinds are opened first, and the cards inside by a second click.
  const setAll = (open) => {
    const folded = open ? kinds.filter((kind) => !kind.open && !kind.hidden) : kinds;
    folded.forEach((kind) => { kind.open = open; });
    if (open && folded.length) { return; }
    cards.forEach((card) => { if (!card.hidden) { card.open = open; } });
  };
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
    kinds.forEach((kind) => {
      const left = Array.from(kind.querySelectorAll("details.card"), (card) => !card.hidden).some(Boolean);
      kind.hidden = filtering && !left;
      kind.open = filtering && left;
    });
    one("#filter-count").textContent = filtering ? `${shown} of ${cards.length} findings match` : "";
  };
  filter?.addEventListener("input", applyFilters);
  choices.forEach((choice) => choice.addEventListener("change", applyFilters));

  // Sorting: a button in each heading of a table that sorts; numbers by data-sort or as they read.
  const sortKey = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    const number = Number(text.replace(/,/g, ""));
    return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) { return a < b ? -1 : a > b ? 1 : 0; }
    return typeof a === "number" ? -1 : 1;
  };
  all("table.sortable").forEach((table) => {
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach((heading, column) => {
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
