// The page on which maintainers look at blocks.

const text = document.querySelector("#blocks");
const refusal = document.querySelector("#refusal");
const shown = document.querySelector("#shown");

async function show() {
  const answer = await fetch("/preview", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text: text.value }),
  });
  const found = await answer.json();
  refusal.hidden = !found.error;
  refusal.textContent = found.error ?? "";
  // the server has escaped all that is not markup of its own
  shown.innerHTML = found.html ?? "";
}

document.querySelector("#show").addEventListener("click", show);
await show();
