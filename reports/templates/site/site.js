(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  // Rows of a table of defects, by what is chosen above it.
  const picks = all("select.pick");
  const rows = all("table.picked tbody tr");
  const pick = () => {
    const chosen = picks.filter((item) => item.value);
    let shown = 0;
    rows.forEach((row) => {
      row.hidden = !chosen.every((item) => row.dataset[item.name] === item.value);
      shown += row.hidden ? 0 : 1;
    });
    one("#pick-count").textContent = chosen.length ? `${shown} of ${rows.length} defects` : "";
  };
  picks.forEach((item) => item.addEventListener("change", pick));

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
