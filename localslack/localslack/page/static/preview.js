// The page on which maintainers look at blocks.

import { $, post } from "./page.js";

const text = $("#blocks");
const refusal = $("#refusal");
const shown = $("#shown");

async function show() {
  const found = await post("/preview", { text: text.value });
  refusal.hidden = !found.error;
  refusal.textContent = found.error ?? "";
  // the server has escaped all that is not markup of its own
  shown.innerHTML = found.html ?? "";
}

$("#show").addEventListener("click", show);
await show();
