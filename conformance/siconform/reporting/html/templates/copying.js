// Buttons that copy a link or a command: made here, because without a script they do nothing.
async function copy(source, button) {
  const label = button.textContent;
  try { // a page from a file or over http may have no clipboard
    await navigator.clipboard.writeText(source.href ?? source.textContent);
    button.textContent = "copied";
  } catch {
    if (source.href) location.href = source.href;
    else getSelection().selectAllChildren(source);
    button.textContent = source.href ? "now in the address bar" : "selected, press Ctrl+C";
  }
  setTimeout(() => { button.textContent = label; }, 3000);
}

for (const source of document.querySelectorAll("a.anchor, pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.setAttribute("aria-live", "polite");
  button.textContent = source.href ? "copy link" : "copy";
  button.addEventListener("click", () => copy(source, button));
  if (source.href) source.after(button);
  else source.before(button);
}
