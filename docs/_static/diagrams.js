/* Draws the diagrams of a page, in the colours the reader has chosen. */
document.addEventListener("DOMContentLoaded", async () => {
  const blocks = [...document.querySelectorAll("pre.mermaid")];
  const sources = blocks.map((block) => block.textContent);
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && system.matches);
  };
  let drawn;
  const draw = async () => {
    if (drawn === isDark()) return;
    drawn = isDark();
    mermaid.initialize({
      startOnLoad: false,
      theme: drawn ? "dark" : "neutral",
      themeVariables: drawn ? { edgeLabelBackground: "#202124", labelBackgroundColor: "#202124" } : {},
    });
    for (const [number, block] of blocks.entries()) {
      const { svg } = await mermaid.render(`diagram-${number}`, sources[number]);
      block.innerHTML = svg;
      block.firstElementChild.setAttribute("role", "img");
      block.firstElementChild.setAttribute("aria-label", "The table below as a diagram");
    }
    document.body.dataset.diagrams = String(blocks.length);
  };
  await draw();
  new MutationObserver(draw).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", draw);
});
