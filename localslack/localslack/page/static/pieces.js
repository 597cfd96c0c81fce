// Draws what the server sends: lists of pieces, of which only those that are new are drawn.

import { $, HOME, all, toast } from "./page.js";
import { control } from "./forms.js";

// Pieces have keys that stay: what is the same is left alone, so that focus, menus and selections live on.
const drawn = new WeakMap();

export function sync(list, pieces) {
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

// what somebody has typed, put the focus on or scrolled to, in a piece that is drawn again
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

// "seen" is the newest message that was seen before: who comes back begins after it
export function shown(list, pieces, seen) {
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
    delete list.dataset.follow;
    const unread = pieces.findIndex((piece) => Number(piece.key) > Number(seen));
    if (unread < 0) toTheLast(list);
    else list.scrollTop = list.children[unread].offsetTop - 48;
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
