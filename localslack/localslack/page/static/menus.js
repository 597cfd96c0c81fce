// Menus behind a button: of a message, and of the app's shortcuts.

import { $, all } from "./page.js";

const menuOf = (button) => button.nextElementSibling;
const itemsOf = (menu) => all("[role=menuitem]", menu);

export function openMenu(button, at = 0) {
  closeMenu({ isLeft: true });
  button.setAttribute("aria-expanded", "true");
  menuOf(button).hidden = false;
  itemsOf(menuOf(button)).at(at).focus();
}

// the focus returns to the button, unless somebody has left the menu for another place
export function closeMenu({ isLeft }) {
  const button = $("[data-menu][aria-expanded=true]");
  if (!button) return;
  button.setAttribute("aria-expanded", "false");
  menuOf(button).hidden = true;
  if (!isLeft) button.focus();
}

// arrows, Home and End move, Esc and Tab close; gives whether the key is used up
export function moveByKey(target, event) {
  const last = { ArrowDown: 0, ArrowUp: -1 }[event.key];
  if (target.matches("[data-menu]") && last !== undefined) {
    openMenu(target, last);
    return true;
  }
  const menu = target.closest("[role=menu]");
  if (!menu) return false;
  const items = itemsOf(menu);
  const next = { ArrowDown: items.indexOf(target) + 1, ArrowUp: items.indexOf(target) - 1, Home: 0, End: -1 }[event.key];
  if (next !== undefined) items.at(next % items.length).focus();
  else if (event.key === "Escape" || event.key === "Tab") closeMenu({ isLeft: false });
  return next !== undefined || event.key === "Escape";
}
