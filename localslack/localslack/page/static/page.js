// What all the modules of the page use: looking things up, talking to the server, saying something in passing.

export const $ = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const HOME = "home";
export const AWAY = `The ${document.body.dataset.program} does not answer: is it still running in its terminal?`;

// where the visitor is: a place, and a thread of it that is open beside
export const here = { place: "", thread: "" };

// whether somebody did something in this tab last: what comes of it is shown here, not in other tabs
export const tab = { isActive: false };
const tabs = new BroadcastChannel("active");
tabs.onmessage = () => (tab.isActive = false);

export async function send(deed, asked = {}) {
  tab.isActive = true;
  tabs.postMessage(deed);
  try {
    return await post(`/do/${deed}`, asked);
  } catch {
    return { notice: AWAY, errors: {}, options: [], failed: true };
  }
}

export async function post(path, asked) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
  });
  return answer.json();
}

export function toast(text) {
  const box = $("#toast");
  box.textContent = text;
  box.hidden = !text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => (box.hidden = true), 8000);
}
