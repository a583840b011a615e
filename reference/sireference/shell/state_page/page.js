"use strict";
// Every few seconds the page is fetched anew, and what has changed is changed in place: what has
// the focus keeps it, what was opened or closed stays so, and nothing scrolls.
(() => {
  const PAUSE = 2000, PATIENCE = 15000;  // milliseconds
  const pause = document.getElementById("pause"), trouble = document.getElementById("trouble");
  const parts = ["#state", ".refresh span"];
  let paused = false, timer = 0;

  const key = (node) => node.dataset?.key;
  const isSame = (one, other) => one.nodeName === other.nodeName && key(one) === key(other);

  function attributes(old, now) {
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
      if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
  }

  function removed(node) {
    const next = node.nextSibling;
    node.remove();
    return next;
  }

  function children(old, now) {
    const keyed = new Map([...now.children].filter(key).map((one) => [key(one), one]));
    for (const child of [...old.children]) {
      if (key(child) && !keyed.has(key(child))) child.remove();
    }
    const known = new Map([...old.children].filter(key).map((one) => [key(one), one]));
    let place = old.firstChild;
    for (const wanted of [...now.childNodes]) {
      const found = known.get(key(wanted));
      while (found && place && place !== found && !key(place)) place = removed(place);
      if (found && found !== place && isSame(found, wanted)) old.insertBefore(found, place);
      const here = found && isSame(found, wanted) ? found : place;
      if (here && isSame(here, wanted)) {
        change(here, wanted);
        place = here.nextSibling;
      } else {
        old.insertBefore(document.importNode(wanted, true), place);
      }
    }
    while (place) place = removed(place);
  }

  function change(old, now) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== now.data) old.data = now.data;
      return;
    }
    attributes(old, now);
    children(old, now);
  }

  async function refresh() {
    const began = performance.now();
    try {
      const answer = await fetch(location.pathname + location.search,
        { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      if (!answer.ok) throw new Error(await answer.text());
      const now = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (paused) return;
      for (const part of parts) change(document.querySelector(part), now.querySelector(part));
      trouble.textContent = "";
    } catch (error) {
      const says = error.name === "TypeError" ? "The scheduler does not answer." : error.message;
      const told = `${says.trim()} What is shown is as old as it says.`;
      if (trouble.textContent !== told) trouble.textContent = told;
    } finally {
      plan(Math.max(PAUSE, 5 * (performance.now() - began)));
    }
  }

  function plan(delay) {
    clearTimeout(timer);
    if (!paused && !document.hidden) timer = setTimeout(refresh, delay);
  }

  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    plan(0);
  });
  document.addEventListener("visibilitychange", () => plan(0));
  plan(PAUSE);
})();
