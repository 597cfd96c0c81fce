// Suggestions while somebody types: slash commands at the beginning, and the bot's name after an @.

import { $, all } from "./page.js";

const listOf = (box) => $(`#${box.form.id}-words`);
const optionsOf = (box) => all("[role=option]", listOf(box));

// the word before the caret, if it is one that can be completed
function wordOf(box) {
  const typed = box.value.slice(0, box.selectionStart);
  return typed.match(/^\/\S*$|(?<=^|\s)@[\w-]*$/)?.[0] ?? "";
}

export function offer(box) {
  const word = wordOf(box).toLowerCase();
  for (const each of optionsOf(box)) each.hidden = !word || !each.dataset.word.toLowerCase().startsWith(word);
  choose(box, optionsOf(box).find((each) => !each.hidden));
}

function choose(box, option) {
  listOf(box).hidden = !option;
  for (const each of optionsOf(box)) each.setAttribute("aria-selected", String(each === option));
  if (option) box.setAttribute("aria-activedescendant", option.id);
  else box.removeAttribute("aria-activedescendant");
}

export function complete(box, option) {
  const end = box.selectionStart;
  box.setRangeText(`${option.dataset.word} `, end - wordOf(box).length, end, "end");
  choose(box, null);
  box.focus();
}

// as in Slack: arrows choose, Tab and Enter complete, Esc hides; gives whether the key is used up
export function chooseByKey(box, event) {
  if (listOf(box).hidden) return false;
  const fitting = optionsOf(box).filter((each) => !each.hidden);
  const at = fitting.findIndex((each) => each.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  // what is typed in full is sent
  const isDone = event.key === "Enter" && wordOf(box) === fitting[at].dataset.word;
  if (step) choose(box, fitting.at((at + step) % fitting.length));
  else if (event.key === "Escape" || isDone) choose(box, null);
  else if ((event.key === "Tab" || event.key === "Enter") && !event.shiftKey) complete(box, fitting[at]);
  else return false;
  return !isDone;
}
