// The page: shows what the server sends as it changes, and sends what the visitor does.

import { $, AWAY, HOME, all, here, send, toast } from "./page.js";
import { chooseByKey, complete, offer } from "./complete.js";
import { act, changed, leaveWindow, showWindow, submit, suggest } from "./forms.js";
import { closeMenu, moveByKey, openMenu } from "./menus.js";
import { shown } from "./pieces.js";

let live = null;
const read = new Map(); // the newest message that was seen, by place
let asked = ""; // where the thread will be in which the visitor's last mention is answered

function show(screen) {
  const list = $("#messages");
  list.dataset.of = here.place;
  shown(list, screen.pieces, read.get(here.place));
  list.classList.toggle("is-empty", !screen.pieces.length);
  const beside = $("#thread");
  beside.dataset.of = here.thread;
  if (here.thread) shown(beside, screen.thread);
  $("#status").textContent = screen.status;
  $("#stop").hidden = !screen.stops;
  $("#stop").dataset.stop = screen.stops;
  showPrompts(screen.prompts);
  showWindow(screen.window);
  showNews(screen.latest);
  openAnswer();
  const count = $("#refused");
  count.hidden = !screen.refused;
  count.textContent = screen.refused ? ` ${screen.refused} refused` : "";
}

// prompts of an app that is an agent: a click sends the message, as in Slack

function showPrompts({ title, prompts }) {
  const section = $("#prompts");
  const written = JSON.stringify([title, prompts]);
  section.hidden = !prompts.length;
  if (section.dataset.of === written) return;
  section.dataset.of = written;
  $("h3", section).textContent = title;
  $("ul", section).replaceChildren(...prompts.map((each) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "try", textContent: each.title });
    button.dataset.prompt = each.message;
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

function showNews(latest) {
  for (const [id, ts] of Object.entries(latest)) {
    if (id === here.place || !read.has(id)) read.set(id, ts);
    const link = $(`.side a[data-place="${CSS.escape(id)}"] .news`);
    if (link) link.hidden = Number(ts) <= Number(read.get(id));
  }
}

// a newcomer would take "1 reply" for nothing; a reader who is elsewhere or typing by then stays there

function openAnswer() {
  if (!asked || !$(`#messages a[href="${CSS.escape(asked)}"]`)) return;
  const isFree = !here.thread && !$(".main .composer textarea").value && !document.querySelector("dialog[open]");
  if (isFree && asked.startsWith(`#/${here.place}/`)) location.hash = asked;
  asked = "";
}

// where we are: #/PLACE or #/PLACE/THREAD, so that the browser's own back and forward work

function go() {
  // the link to the message box leads to no other place
  if (live && location.hash && !location.hash.startsWith("#/")) return;
  const [, wanted, ts] = location.hash.split("/");
  const first = $(".side a[data-place]").dataset.place;
  const before = { ...here };
  const known = all(".side a[data-place]").some((each) => each.dataset.place === wanted);
  here.place = known ? wanted : first;
  here.thread = known && here.place !== HOME ? (ts ?? "") : "";
  leaveWindow();
  if (before.place === here.place && before.thread === here.thread && live) return;
  all(".side a[data-place]").forEach((each) => {
    if (each.dataset.place === here.place) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  });
  const link = $(`.side a[data-place="${CSS.escape(here.place)}"]`);
  $("#place-name").textContent = link.dataset.title;
  document.title = `${$(".name", link).textContent} · ${$("h1").textContent}`;
  $("#beside").hidden = !here.thread;
  document.body.classList.toggle("has-thread", Boolean(here.thread));
  $("#close-thread").href = `#/${here.place}`;
  $(".main .composer").hidden = here.place === HOME;
  // as in Slack, the bot is told who opens its tabs
  const tab = here.place === HOME ? "home" : here.place.startsWith("D") ? "direct" : "";
  if (tab && before.place !== here.place) send(tab).then((said) => toast(said.notice));
  if (here.thread && before.thread !== here.thread) $("#thread-name").focus();
  else if (before.place && before.place !== here.place) $("#place-name").focus();
  else if (before.thread && !here.thread) $(`#messages a[href="${CSS.escape(`#/${here.place}/${before.thread}`)}"]`)?.focus();
  listen();
}

function listen() {
  live?.close();
  live = new EventSource(`/live?place=${encodeURIComponent(here.place)}&thread=${encodeURIComponent(here.thread)}`);
  live.onmessage = (event) => show(JSON.parse(event.data));
  live.onopen = () => $("#toast").textContent === AWAY && toast("");
  live.onerror = () => {
    // closed for good: the server has answered that there is no such thread, as after a new start
    const isGone = live.readyState === EventSource.CLOSED && here.thread;
    toast(isGone ? "This thread is not here any more." : AWAY);
    if (isGone) location.replace(`#/${here.place}`);
  };
}

// what the visitor does

async function say(form) {
  const box = form.elements.text;
  const text = box.value;
  const inThread = form.id === "reply";
  box.value = "";
  grow(box);
  // the result has to be seen, also after the list was scrolled
  const list = $(inThread ? "#thread" : "#messages");
  list.dataset.follow = "yes";
  const said = await send("say", { place: here.place, thread: inThread ? here.thread : "", text });
  const notice = $(`#${form.id}-notice`);
  notice.textContent = said.notice;
  notice.hidden = !said.notice;
  if (said.failed && !box.value) box.value = text;
  if (said.thread) asked = `#/${here.place}/${said.thread}`;
  openAnswer();
}

function grow(box) {
  box.rows = Math.min(8, Math.max(1, box.value.split("\n").length));
  offer(box);
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("button, a, [role=option]");
  const isOpen = target?.getAttribute("aria-expanded") === "true";
  closeMenu({ isLeft: !target?.closest(".more") });
  if (!target) return;
  const { dataset } = target;
  if ("menu" in dataset) {
    if (!isOpen) openMenu(target);
  } else if (dataset.shortcut) {
    const of = dataset.ts ? ["message_shortcut", { place: dataset.place, ts: dataset.ts }] : ["shortcut", {}];
    send(of[0], { ...of[1], shortcut: dataset.shortcut }).then((said) => toast(said.notice));
  } else if (dataset.action) act(target, dataset.value);
  else if (dataset.dismiss) send("dismiss", { ts: dataset.dismiss });
  else if (dataset.stop) send("stop", { place: here.place, ts: dataset.stop }).then((said) => toast(said.notice));
  else if (dataset.prompt) send("say", { place: here.place, thread: "", text: dataset.prompt }).then((said) => toast(said.notice));
  else if (dataset.close) send("close", { view: dataset.close });
  else if (dataset.word) complete($(`#${dataset.for}`).elements.text, target);
  else if (dataset.try) {
    const box = $(`#${dataset.for}`).elements.text;
    box.value = dataset.try;
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
  if (moveByKey(box, event)) {
    event.preventDefault();
    return;
  }
  // with arrows a closed menu would send the first choice that is passed; so it opens, as it does on a Mac
  if (box.matches("select[data-action]") && event.key.startsWith("Arrow") && !event.altKey && box.showPicker) {
    event.preventDefault();
    box.showPicker();
  }
  if (box.matches(".compose textarea") && !event.isComposing && chooseByKey(box, event)) {
    event.preventDefault();
    return;
  }
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && box.form?.matches(".compose") && box.name === "text") {
    event.preventDefault();
    box.form.requestSubmit();
  }
  if (event.key === "Escape" && here.thread && !document.querySelector("dialog[open]")) location.hash = `#/${here.place}`;
});

// Esc closes a window as its button does: the bot may want to know
$("#window").addEventListener("cancel", (event) => {
  event.preventDefault();
  const form = $("form", event.target);
  if (form) send("close", { view: form.dataset.view });
});

addEventListener("hashchange", go);
go();
