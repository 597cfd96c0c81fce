// The page: shows what the server sends as it changes, and sends what the visitor does.

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const HOME = "home";
const REQUIRED = "Please complete this required field.";
const UNKNOWN = "Choose one of the suggestions.";
const AWAY = "The demo does not answer: is it still running in its terminal?";

let place = "";
let thread = "";
let live = null;
const read = new Map(); // the newest message that was seen, by place

// what is sent

async function send(deed, asked = {}) {
  let said;
  try {
    const answer = await fetch(`/do/${deed}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
    said = await answer.json();
  } catch {
    said = { notice: AWAY, errors: {}, options: [], failed: true };
  }
  return said;
}

function toast(text) {
  const box = $("#toast");
  box.textContent = text;
  box.hidden = !text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => (box.hidden = true), 8000);
}

// what is shown

// Pieces have keys that stay: what is the same is left alone, so that focus, menus and selections live on.
const drawn = new WeakMap();

function sync(list, pieces) {
  const known = drawn.get(list) ?? new Map();
  const next = new Map();
  let before = null;
  for (const piece of pieces) {
    const found = known.get(piece.key) ?? { html: "", node: node(piece.key) };
    if (found.html !== piece.html) redraw(found, piece.html);
    next.set(piece.key, found);
    const after = before ? before.nextSibling : list.firstChild;
    if (after !== found.node) list.insertBefore(found.node, after);
    before = found.node;
  }
  for (const [key, found] of known) if (!next.has(key)) remove(found.node, list);
  drawn.set(list, next);
}

function remove(gone, list) {
  if (gone.contains(document.activeElement)) list.focus({ preventScroll: true });
  gone.remove();
}

function node(key) {
  const made = document.createElement("div");
  made.className = "piece";
  made.dataset.key = key;
  return made;
}

function redraw(found, html) {
  const kept = held(found.node);
  // the server has escaped all that is not markup of its own
  found.node.innerHTML = html;
  found.html = html;
  all("a[href^='https://']", found.node).forEach(stayHere);
  restore(found.node, kept);
}

// links to messages of the team lead to where the page shows them
function stayHere(link) {
  const address = new URL(link.href);
  const [, kind, id, message] = address.pathname.split("/");
  if (!address.href.startsWith(document.body.dataset.team) || kind !== "archives") return;
  const ts = message?.replace(/^p(\d+)(\d{6})$/, "$1.$2");
  link.href = `#/${id}/${address.searchParams.get("thread_ts") ?? ts ?? ""}`;
  link.removeAttribute("target");
}

// what somebody has typed, put the focus on or scrolled to, in a piece that is drawn anew
function held(within) {
  const focus = within.contains(document.activeElement) ? addressOf(document.activeElement) : "";
  const typed = all("[data-input]", within).map((box) => [box.dataset.block, box.dataset.action, control(box)]);
  const scrolled = $(".inside", within)?.scrollTop;
  return { focus, scrolled, typed: typed.filter(([, , part]) => part && part.matches("input:not([type=checkbox],[type=radio]),textarea")) };
}

function restore(within, kept) {
  for (const [block, action, part] of kept.typed) {
    const box = all("[data-input]", within).find((each) => each.dataset.block === block && each.dataset.action === action);
    const now = box && control(box);
    if (!now) continue;
    now.value = part.value;
    if (part.dataset.value) now.dataset.value = part.dataset.value;
  }
  if (kept.scrolled) $(".inside", within)?.scrollTo({ top: kept.scrolled });
  if (!kept.focus) return;
  const now = $(kept.focus, within) ?? within.closest(".list") ?? $("h2", within);
  now?.focus({ preventScroll: true });
}

function addressOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const names = ["data-action", "data-block", "data-value", "data-dismiss", "data-stop", "href"];
  const parts = names.filter((name) => element.hasAttribute(name)).map((name) => `[${name}="${CSS.escape(element.getAttribute(name))}"]`);
  return parts.length ? parts.join("") : "";
}

function shown(list, pieces) {
  const isNew = list.dataset.of !== list.dataset.was;
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const isLonger = pieces.length && !drawn.get(list)?.has(pieces.at(-1).key);
  sync(list, pieces);
  list.setAttribute("aria-busy", "false");
  // App Home is no talk: it begins at its top
  if (list.dataset.of === HOME) {
    if (isNew) list.scrollTop = 0;
    list.dataset.was = HOME;
    return;
  }
  if (isNew && pieces.length) {
    list.dataset.was = list.dataset.of;
    toTheLast(list);
  } else if (list.dataset.follow && isLonger) toTheLast(list);
  else if (isAtEnd) list.scrollTop = list.scrollHeight;
  else if (isLonger) toast("Something new is further down.");
}

// the end, or the beginning of the last message where that is longer than the list is high
function toTheLast(list) {
  const last = list.lastElementChild;
  if (!last) return;
  const top = last.offsetTop;
  list.scrollTop = last.offsetHeight > list.clientHeight ? top - 48 : list.scrollHeight;
}

function show(screen) {
  const list = $("#messages");
  list.dataset.of = place;
  shown(list, screen.pieces);
  list.classList.toggle("is-empty", !screen.pieces.length);
  const beside = $("#thread");
  beside.dataset.of = thread;
  if (thread) shown(beside, screen.thread);
  $("#status").textContent = screen.status ? `prdigest ${screen.status}` : "";
  showWindow(screen.window);
  showNews(screen.latest);
  const count = $("#refused");
  count.hidden = !screen.refused;
  count.textContent = screen.refused ? ` ${screen.refused} refused` : "";
}

function showNews(latest) {
  for (const [id, ts] of Object.entries(latest)) {
    if (id === place || !read.has(id)) read.set(id, ts);
    const link = $(`.side a[data-place="${CSS.escape(id)}"] .news`);
    if (link) link.hidden = Number(ts) <= Number(read.get(id));
  }
}

function showWindow(view) {
  const dialog = $("#window");
  if (!view) {
    if (dialog.open) {
      dialog.close();
      // Chromium gives back the focus without the caret where a form was drawn anew: what is typed would be lost
      const back = document.activeElement;
      back.blur();
      back.focus({ preventScroll: true });
    }
    sync(dialog, []);
    return;
  }
  const isNew = !dialog.open || $(".piece", dialog)?.dataset.key !== view.key;
  sync(dialog, [view]);
  mark();
  if (!dialog.open) dialog.showModal();
  if (isNew) ($("[autofocus], .bk-input input, .bk-input textarea, .bk-input select", dialog) ?? $("h2", dialog))?.focus();
}

// where we are: #/PLACE or #/PLACE/THREAD, so that the browser's own back and forward work

function go() {
  // the link to the message box leads to no other place
  if (live && location.hash && !location.hash.startsWith("#/")) return;
  const [, wanted, ts] = location.hash.split("/");
  const first = $(".side a[data-place]").dataset.place;
  const before = { place, thread };
  const known = all(".side a[data-place]").some((each) => each.dataset.place === wanted);
  place = known ? wanted : first;
  thread = known && place !== HOME ? (ts ?? "") : "";
  if (before.place === place && before.thread === thread && live) return;
  all(".side a[data-place]").forEach((each) => {
    if (each.dataset.place === place) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  });
  const here = $(`.side a[data-place="${CSS.escape(place)}"]`);
  $("#place-name").textContent = here.innerText.replace(", new messages", "").trim();
  document.title = `${$(".name", here).textContent} · ${$("h1").textContent}`;
  $("#beside").hidden = !thread;
  document.body.classList.toggle("has-thread", Boolean(thread));
  $("#close-thread").href = `#/${place}`;
  $(".main .composer").hidden = place === HOME;
  if (place === HOME) send("home").then((said) => toast(said.notice));
  if (thread && before.thread !== thread) $("#thread-name").focus();
  else if (before.place && before.place !== place) $("#place-name").focus();
  else if (before.thread && !thread) $(`#messages a[href="${CSS.escape(`#/${place}/${before.thread}`)}"]`)?.focus();
  listen();
}

function listen() {
  live?.close();
  live = new EventSource(`/live?place=${encodeURIComponent(place)}&thread=${encodeURIComponent(thread)}`);
  live.onmessage = (event) => show(JSON.parse(event.data));
  live.onopen = () => $("#toast").textContent === AWAY && toast("");
  live.onerror = () => {
    // closed for good: the demo has answered that there is no such thread, as after a new start
    const isGone = live.readyState === EventSource.CLOSED && thread;
    toast(isGone ? "This thread is not here any more." : AWAY);
    if (isGone) location.replace(`#/${place}`);
  };
}

// what the visitor does

async function act(element, value) {
  if (element.dataset.confirm && !(await agreed(JSON.parse(element.dataset.confirm)))) return;
  const used = { action: element.dataset.action, block: element.dataset.block, value };
  const view = element.closest("[data-view]");
  const piece = element.closest(".piece");
  const said = view
    ? await send("press_in", { view: view.dataset.view, ...used })
    : await send("press", { place, ts: piece.dataset.key, ...used });
  if (said.notice) toast(said.notice);
}

function agreed(asked) {
  const dialog = $("#confirm");
  for (const part of ["title", "text"]) $(`#confirm-${part}`).textContent = asked[part];
  $("#confirm-yes").textContent = asked.confirm;
  $("#confirm-no").textContent = asked.deny;
  $("#confirm-yes").classList.toggle("bk-danger", asked.style === "danger");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}

function control(box) {
  return $("input, textarea, select", box);
}

function valueOf(box) {
  const part = control(box);
  switch (box.dataset.kind) {
    case "multi_static_select":
      return [...part.selectedOptions].map((option) => option.value);
    case "checkboxes":
      return all("input:checked", box).map((each) => each.value);
    case "radio_buttons":
      return $("input:checked", box)?.value ?? "";
    case "external_select":
      return part.value ? (part.dataset.value ?? "") : "";
    default:
      return part.value;
  }
}

// what was wrong with a form: its window may be drawn anew while this stands
let told = { view: "", errors: {}, notice: "" };

async function submit(form) {
  const { view } = form.dataset;
  const values = all("[data-input]", form).map((box) => ({ block: box.dataset.block, action: box.dataset.action, value: valueOf(box) }));
  tell(view, {}, "");
  const missing = missingIn(form);
  if (Object.keys(missing).length) {
    tell(view, missing, "")?.focus();
    return;
  }
  const { errors, notice } = await send("submit", { view, values });
  const wrong = tell(view, errors, notice);
  wrong?.focus();
  // with what is wrong below it
  wrong?.closest("[data-input]").scrollIntoView({ block: "nearest" });
}

// Slack asks for these before an app hears of the form
function missingIn(form) {
  const empty = all("[data-input][data-required]", form).filter((box) => !valueOf(box).length);
  return Object.fromEntries(empty.map((box) => [box.dataset.block, control(box).value && box.dataset.kind === "external_select" ? UNKNOWN : REQUIRED]));
}

function tell(view, errors, notice) {
  told = { view, errors, notice };
  return mark();
}

// shows what was told where it belongs, and gives the first field that is wrong
function mark() {
  const form = $(`#window form[data-view="${CSS.escape(told.view)}"]`);
  if (!form) return null;
  const top = $(":scope > footer > .notice", form);
  write(top, told.notice);
  let first = null;
  for (const box of all("[data-input]", form)) {
    const text = told.errors[box.dataset.block] ?? "";
    write($(".bk-error", box), text);
    control(box)?.setAttribute("aria-invalid", String(Boolean(text)));
    first ??= text ? control(box) : null;
  }
  return first;
}

// only what is new, as it is read aloud
function write(box, text) {
  if (box.textContent !== text) box.textContent = text;
  box.hidden = !text;
}

async function suggest(input) {
  const typed = input.value;
  const list = $(`#${CSS.escape(input.getAttribute("list"))}`);
  const chosen = [...list.options].find((option) => option.value === typed);
  if (chosen) choose(input, chosen.dataset.value);
  else input.dataset.value = "";
  if (chosen || typed.length < Number(input.dataset.least ?? 3)) return;
  const view = input.closest("[data-view]").dataset.view;
  const said = await send("suggest", { view, action: input.dataset.suggest, typed });
  if (input.value !== typed) return;
  list.replaceChildren(
    ...said.options.map((each) => {
      const option = document.createElement("option");
      option.value = each.text.text;
      option.dataset.value = each.value;
      return option;
    }),
  );
  const exact = said.options.find((each) => each.text.text === typed);
  if (exact) choose(input, exact.value);
}

function choose(input, value) {
  input.dataset.value = value;
  const box = input.closest("[data-input]");
  if (!box || "dispatch" in box.dataset) act(input, value);
}

async function say(form) {
  const box = form.elements.text;
  const text = box.value;
  const inThread = form.id === "reply";
  box.value = "";
  grow(box);
  // what comes of it shall be seen, wherever the list was scrolled to
  const list = $(inThread ? "#thread" : "#messages");
  list.dataset.follow = "yes";
  const said = await send("say", { place, thread: inThread ? thread : "", text });
  const notice = $(`#${form.id}-notice`);
  notice.textContent = said.notice;
  notice.hidden = !said.notice;
  if (said.failed && !box.value) box.value = text;
}

function grow(box) {
  box.rows = Math.min(8, Math.max(1, box.value.split("\n").length));
  const commands = $(`#${box.form.id}-commands`);
  const typed = box.value.split(" ")[0];
  const fitting = all("button", commands).filter((each) => {
    const fits = typed.startsWith("/") && each.dataset.command.startsWith(typed) && !box.value.includes(" ");
    each.parentElement.hidden = !fits;
    return fits;
  });
  commands.hidden = !fitting.length;
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("button, a");
  if (!target) return;
  const { dataset } = target;
  if (dataset.action) act(target, dataset.value);
  else if (dataset.dismiss) send("dismiss", { ts: dataset.dismiss });
  else if (dataset.stop) send("stop", { place, ts: dataset.stop }).then((said) => toast(said.notice));
  else if (dataset.close) send("close", { view: dataset.close });
  else if (dataset.try || dataset.command) {
    const box = $(`#${dataset.for}`).elements.text;
    box.value = dataset.try ?? `${dataset.command} `;
    grow(box);
    box.focus();
  }
});

document.addEventListener("change", (event) => {
  const part = event.target;
  const box = part.closest("[data-input]");
  if ((box && !("dispatch" in box.dataset)) || part.dataset.suggest) return;
  const named = part.dataset.action ? part : part.closest("[data-action]");
  if (!named || part.matches("textarea, input[type=text]")) return;
  changed(part).forEach((value) => act(named, value));
});

// what somebody has chosen now; of several that may be chosen, what is another than before
function changed(part) {
  if (!part.multiple) return [part.value || undefined];
  return [...part.options].filter((option) => option.selected !== option.defaultSelected).map((option) => option.value);
}

document.addEventListener("input", (event) => {
  const part = event.target;
  if (part.name === "text" && part.form?.matches(".compose")) grow(part);
  if (part.dataset.suggest) {
    clearTimeout(suggest.timer);
    suggest.timer = setTimeout(() => suggest(part), 150);
  }
});

document.addEventListener("focusin", (event) => {
  if (event.target.dataset.suggest && event.target.dataset.least === "0") suggest(event.target);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if (form.matches(".compose")) say(form);
  else submit(form);
});

document.addEventListener("keydown", (event) => {
  const box = event.target;
  // with arrows a closed menu would send the first choice that is passed; so it opens, as it does on a Mac
  if (box.matches("select[data-action]") && event.key.startsWith("Arrow") && !event.altKey && box.showPicker) {
    event.preventDefault();
    box.showPicker();
  }
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && box.form?.matches(".compose") && box.name === "text") {
    event.preventDefault();
    box.form.requestSubmit();
  }
  if (event.key === "Escape" && thread && !document.querySelector("dialog[open]")) location.hash = `#/${place}`;
});

// Esc closes a window as its button does: the bot may want to know
$("#window").addEventListener("cancel", (event) => {
  event.preventDefault();
  const form = $("form", event.target);
  if (form) send("close", { view: form.dataset.view });
});

addEventListener("hashchange", go);
go();
