(() => {
  const one = (selector) => document.querySelector(selector);

  // Above a table of defects a choice for each of these columns that leaves one: its values are
  // those of the cells, a badge's where there is one.
  const picked = one("table.picked");
  const headings = ["State", "Severity", "Vocabulary"];
  const valueOf = (cell) => (cell.querySelector(".badge") ?? cell).textContent.trim();
  if (picked) {
    const rows = Array.from(picked.tBodies[0].rows);
    const names = Array.from(picked.tHead.rows[0].cells, (cell) => cell.textContent.trim());
    const tools = document.createElement("div");
    const count = document.createElement("p");
    tools.className = "tools";
    count.className = "quiet";
    count.setAttribute("role", "status");
    const picks = headings.map((name) => [name, names.indexOf(name)]).flatMap(([name, column]) => {
      const values = [...new Set(rows.map((row) => valueOf(row.cells[column])))];
      if (values.length < 2) { return []; }
      const pick = document.createElement("select");
      pick.className = "pick";
      pick.name = name;
      pick.setAttribute("aria-label", name);
      pick.append(new Option(`${name}: all`, ""), ...values.map((value) => new Option(value, value)));
      tools.append(pick);
      return [[pick, column]];
    });
    const choose = () => {
      const chosen = picks.filter(([pick]) => pick.value);
      rows.forEach((row) => {
        row.hidden = !chosen.every(([pick, column]) => valueOf(row.cells[column]) === pick.value);
      });
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = chosen.length ? `${shown} of ${rows.length} defects` : "";
    };
    picks.forEach(([pick]) => pick.addEventListener("change", choose));
    tools.append(count);
    picked.closest(".scroll").before(tools);
  }

  // The search page: its index is in the page, so that it needs neither a server nor a network.
  const index = one("#entries");
  if (!index) { return; }
  const entries = JSON.parse(index.textContent);
  const box = one("#find");
  const most = 50;
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : entries.filter((entry) => {
      const text = entry.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    one("#hits").replaceChildren(...found.slice(0, most).map(([kind, title, address]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = address;
      link.textContent = title;
      const what = document.createElement("span");
      what.className = "quiet";
      what.textContent = ` ${kind}`;
      item.append(link, what);
      return item;
    }));
    const more = found.length > most ? `, of which ${most} are shown` : "";
    one("#hits-count").textContent = words.length
      ? `${found.length} ${found.length === 1 ? "page" : "pages"}${more}`
      : "Type a library, a vocabulary, or the id of a finding.";
  };
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", search);
  box.form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  search();
})();
