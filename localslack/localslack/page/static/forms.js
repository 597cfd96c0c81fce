// What can be used: buttons and menus of messages, and windows with their forms.

import { $, all, here, send, tab, toast } from "./page.js";
import { sync } from "./pieces.js";

const REQUIRED = "Please complete this required field.";
const UNKNOWN = "Choose one of the suggestions.";

export async function act(element, value) {
  if (element.dataset.confirm && !(await agreed(JSON.parse(element.dataset.confirm)))) return;
  const used = { action: element.dataset.action, block: element.dataset.block, value };
  const view = element.closest("[data-view]");
  const piece = element.closest(".piece");
  const said = view
    ? await send("press_in", { view: view.dataset.view, ...used })
    : await send("press", { place: here.place, ts: piece.dataset.key, ...used });
  if (said.notice) toast(said.notice);
  // so that the same can be chosen again
  if (!view && element.matches("select")) for (const option of element.options) option.selected = option.defaultSelected;
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

// what somebody has chosen now; of several that may be chosen, what is another than before
export function changed(part) {
  if (!part.multiple) return [part.value || undefined];
  return [...part.options].filter((option) => option.selected !== option.defaultSelected).map((option) => option.value);
}

// a window belongs to the tab in which it was opened, and ends with it, as in Slack
const opened = new Map(); // whether it was here, by window
let isLoaded = false;

export function showWindow(view) {
  const dialog = $("#window");
  if (view && !opened.has(view.key)) opened.set(view.key, isLoaded && tab.isActive);
  isLoaded = true;
  if (!view || !opened.get(view.key)) {
    if (dialog.open) {
      dialog.close();
      // Chromium gives back the focus without the caret where a form was drawn again: what is typed would be lost
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

// who follows a link out of a window wants to see where it leads
export function leaveWindow() {
  const form = $("#window[open] form");
  if (!form) return;
  opened.set($("#window .piece").dataset.key, false);
  showWindow(null);
  send("close", { view: form.dataset.view });
}

export function control(box) {
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

// what was wrong with a form: its window may be drawn again while this stands
let told = { view: "", errors: {}, notice: "" };

export async function submit(form) {
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

export async function suggest(input) {
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
