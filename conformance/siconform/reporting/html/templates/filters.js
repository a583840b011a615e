"use strict";
// Filters, kept in the address: #verdict=fail&area=GANG. An id instead opens its requirement.
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
  const item = items.find((one) => one.id === address);
  if (item) {
    set(new URLSearchParams());
    item.open = true;
    item.scrollIntoView();
    (item.querySelector("summary") ?? item).focus();
  } else if (address.includes("=")) {
    set(new URLSearchParams(address));
    document.getElementById("requirements").scrollIntoView();
  } else {
    apply();
  }
}

form.addEventListener("input", () => { apply(); remember(); });
form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
addEventListener("load", () => setTimeout(follow)); // after the browser has moved to the address
addEventListener("beforeprint", () => {
  for (const item of items) if (item.dataset.verdict === "fail") item.open = true;
});
apply();
