// Two conveniences; every page works without them.
// 1. <div data-live="/path" data-every="5">: is fetched again while it says so, and read out by aria-live.
// 2. <form data-quote="id">: a change asks for a new price, shown in the element with that id.
"use strict";

async function replace(element, address, options) {
  const answer = await fetch(address, { credentials: "same-origin", headers: { "X-Fragment": element.id }, ...options });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(element.id);
  if (fresh) element.replaceWith(document.importNode(fresh, true));
  else if (!options.method) location.assign(address); // the page has become another one
}

function watch(element) {
  const seconds = Math.max(2, Number(element.dataset.every) || 5);
  setTimeout(async () => {
    if (!document.hidden) await replace(element, element.dataset.live, {}).catch(() => {});
    const next = document.getElementById(element.id);
    if (next && next.dataset.live) watch(next);
  }, seconds * 1000);
}

function keepQuoted(form) {
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    const panel = document.getElementById(form.dataset.quote);
    panel.classList.add("stale");
    timer = setTimeout(() => {
      const body = new URLSearchParams(new FormData(form));
      body.set("then", "quote");
      replace(document.getElementById(form.dataset.quote), form.action, { method: "POST", body }).catch(() => {});
    }, 400);
  });
}

document.querySelectorAll("[data-live]").forEach(watch);
document.querySelectorAll("form[data-quote]").forEach(keepQuoted);
