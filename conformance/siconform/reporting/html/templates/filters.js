"use strict";
// Filters, kept in the address: #verdict=fail&area=GANG. The id of a requirement or failure opens it.
const form = document.getElementById("filters");
const items = [...document.querySelectorAll("[data-verdict]")];
const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
const shown = document.getElementById("shown");

function chosen() {
  const found = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) found.set(name, value);
  return found;
}

function fits(item, filters) {
  for (const [name, value] of filters) {
    if (name === "text") {
      const words = value.toLowerCase().split(/\s+/);
      if (!words.every((word) => texts.get(item).includes(word))) return false;
    } else if (!(item.dataset[name] ?? "").split(" ").includes(value)) {
      return false;
    }
  }
  return true;
}

function apply() {
  const filters = [...chosen()];
  for (const item of items) item.hidden = !fits(item, filters);
  const left = items.filter((item) => !item.hidden).length;
  const all = `${items.length} requirements`;
  shown.textContent = filters.length ? `${left} of ${all} are shown` : all;
  for (const group of document.querySelectorAll("[data-group]")) {
    group.hidden = !group.querySelector("[data-verdict]:not([hidden])");
  }
}

function remember() {
  const address = chosen().toString();
  history.replaceState(null, "", address ? `#${address}` : location.pathname + location.search);
}

function set(filters) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = filters.get(field.name) ?? "";
    if (field.type === "checkbox") field.checked = value === field.value;
    else field.value = value;
  }
  apply();
}

function follow() {
  const address = location.hash.slice(1);
  const place = document.querySelector(":target");
  const item = place?.closest("[data-verdict]");
  if (item) {
    if (item.hidden) set(new URLSearchParams());
    item.open = true;
    place.scrollIntoView();
    (place.querySelector("summary, a") ?? place).focus();
  } else if (address.includes("=")) {
    set(new URLSearchParams(address));
    document.getElementById("requirements").scrollIntoView();
  } else {
    apply();
  }
}

form.addEventListener("input", () => { apply(); remember(); });
form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = items.find((item) => !item.hidden);
  (first?.querySelector("summary") ?? first)?.focus();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select")) return;
  event.preventDefault();
  form.elements.text.focus();
});
addEventListener("hashchange", follow);
addEventListener("load", () => setTimeout(follow)); // after the browser has moved to the address
if (location.hash.includes("=")) set(new URLSearchParams(location.hash.slice(1))); // before any input
else apply();
