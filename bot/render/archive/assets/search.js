"use strict";
// Search without a server: each month is a script that hands its rows over, since a page of a folder can't fetch JSON.
(() => {
  const MOST = 50;
  const form = document.getElementById("search");
  const query = document.getElementById("query");
  const status = document.getElementById("status");
  const results = document.getElementById("results");
  const months = form.dataset.months.split(" ").filter(Boolean);
  const rows = [];
  let loaded = 0;
  let missing = 0;
  let isLoading = false;

  globalThis.prdigestSearch = (month) => {
    if (month.version !== 1) return;
    for (const [date, number, title, author, area, text] of month.rows) {
      const all = `#${number} ${title} ${author} ${area} ${text}`.toLowerCase();
      rows.push({ date, number, title, author, area, all, top: `#${number} ${title}`.toLowerCase() });
    }
  };

  const loadNext = () => {
    if (loaded === months.length) return;
    const script = document.createElement("script");
    script.src = `search/${months[loaded]}.js`;
    const goOn = () => {
      loaded += 1;
      show();
      loadNext();
    };
    script.onload = goOn;
    script.onerror = () => {
      missing += 1;
      goOn();
    };
    document.head.append(script);
  };

  const find = (words) => {
    const found = [];
    for (const row of rows) {
      if (!words.every((word) => row.all.includes(word))) continue;
      found.push([words.filter((word) => row.top.includes(word)).length, row]);
    }
    // rows are newest first, and the sort is stable
    return found.sort((one, other) => other[0] - one[0]).map((pair) => pair[1]);
  };

  const makeItem = (row) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `days/${row.date}.html#pr-${row.number}`;
    link.textContent = `#${row.number} ${row.title}`;
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = ` ${row.date}, ${row.author}, ${row.area}`;
    item.append(link, note);
    return item;
  };

  const describe = (count) => {
    const parts = [count === 1 ? "1 merge" : `${count} merges`];
    if (count > MOST) parts.push(`the first ${MOST} are shown`);
    if (loaded < months.length) parts.push("searching on");
    if (missing) parts.push("part of the index could not be loaded");
    return parts.join(", ");
  };

  const show = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      results.replaceChildren();
      status.textContent = "";
      return;
    }
    const found = find(words);
    results.replaceChildren(...found.slice(0, MOST).map(makeItem));
    status.textContent = describe(found.length);
  };

  const search = () => {
    if (!isLoading) {
      isLoading = true;
      loadNext();
    }
    show();
  };

  form.hidden = false;
  query.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    query.value = asked.slice(0, query.maxLength);
    search();
  }
})();
