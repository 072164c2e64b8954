// Two conveniences; every page works without them.
// 1. <div id data-live="/path" data-every="5">: is fetched again while it says so, and read out by aria-live;
//    but not while somebody types in it.
// 2. <form data-quote="id">: a change asks for a new price, shown in the element with that id.
"use strict";

function isBusy(element) {
  const fields = [...element.querySelectorAll("input, textarea")];
  const typed = fields.some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);
  return typed || element.contains(document.activeElement) || element.querySelector("details[open]") !== null;
}

async function replace(element, address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(element.id);
  const old = document.getElementById(element.id);
  if (fresh && old) old.replaceWith(document.importNode(fresh, true));
  else location.assign(address); // the page has become another one
}

function watch(element) {
  const seconds = Math.max(2, Number(element.dataset.every) || 5);
  setTimeout(async () => {
    if (!document.hidden && !isBusy(element)) await replace(element, element.dataset.live).catch(() => {});
    const next = document.getElementById(element.id);
    if (next && next.dataset.live) watch(next);
  }, seconds * 1000);
}

function keepQuoted(form) {
  let timer = 0;
  let last = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    document.getElementById(form.dataset.quote).classList.add("stale");
    timer = setTimeout(async () => {
      const number = ++last;
      const body = new URLSearchParams(new FormData(form));
      body.set("then", "quote");
      const answer = await fetch(form.action, { method: "POST", body, credentials: "same-origin" }).catch(() => null);
      if (!answer || !answer.ok || number !== last) return; // a later change has asked again
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(form.dataset.quote);
      if (fresh && number === last) document.getElementById(form.dataset.quote).replaceWith(document.importNode(fresh, true));
    }, 400);
  });
}

document.querySelectorAll("[data-live]").forEach(watch);
document.querySelectorAll("form[data-quote]").forEach(keepQuoted);
