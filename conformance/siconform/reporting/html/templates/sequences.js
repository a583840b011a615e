// Sequence diagrams, drawn when they are opened: lifelines for each RM and each stream.
const kept = JSON.parse(document.getElementById("histories").textContent);
const SVG = "http://www.w3.org/2000/svg";
const LETTER = 7.3, ROW = 15, TOP = 30, LEFT = 64;

function part(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function wrapped(text, letters) {
  const lines = [""];
  for (const word of text.match(new RegExp(`\\S{1,${letters}}`, "g")) ?? []) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > letters) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

function lifelines(messages) {
  const rms = [...new Set(messages.map((one) => one[1]))];
  const order = ["applications", "allocations", "nodes", "service"];
  return [...rms, ...order.filter((stream) => messages.some((one) => one[3] === stream))];
}

function arrow(from, to, y, look) {
  const back = to > from ? -6 : 6;
  return part("path", { class: `arrow ${look}`, d: `M${from} ${y}H${to}m${back} -4l${-back} 4l${back} 4` });
}

function places(messages, width) {
  const lives = lifelines(messages);
  const gap = Math.min(190, (width - LEFT - 80) / Math.max(1, lives.length - 1));
  return [new Map(lives.map((life, place) => [life, LEFT + 36 + place * gap])), gap];
}

function heads(svg, x, gap, bottom) {
  const room = Math.max(3, Math.floor(gap / LETTER) - 1);
  for (const [life, place] of x) {
    svg.prepend(part("line", { class: "life", x1: place, x2: place, y1: TOP - 6, y2: bottom }));
    const name = life.length > room ? `${life.slice(0, room - 1)}.` : life;
    svg.append(part("text", { class: "head", x: place, y: TOP - 12, "text-anchor": "middle" }, name));
  }
}

function drawing(history, width) {
  const messages = history.messages;
  const [x, gap] = places(messages, width);
  const words = `Sequence diagram of ${messages.length} messages; the list below has the same`;
  const svg = part("svg", { width, role: "img", "aria-label": words });
  const letters = Math.max(20, Math.floor((width - LEFT - 8) / LETTER));
  const cut = history.left_out ? messages.length / 2 : -1;
  let y = TOP;
  messages.forEach(([at, rm, isOfRm, stream, place, isWrong], number) => {
    y += 8;
    const lines = wrapped(kept.texts[place], letters);
    if (number === cut) lines.unshift(`(${history.left_out} messages are left out here)`);
    if (isWrong) lines.unshift("unexpected:");
    const look = isWrong ? "wrong" : "";
    for (const line of lines) svg.append(part("text", { class: look, x: LEFT, y: (y += ROW) }, line));
    y += 9;
    svg.append(part("text", { class: "time", x: 0, y: y + 4 }, at.toFixed(3)));
    const [near, far] = [x.get(rm), x.get(stream)];
    svg.append(isOfRm ? arrow(near, far, y, "") : arrow(far, near, y, `back ${look}`));
  });
  heads(svg, x, gap, y + 14);
  svg.setAttribute("height", y + 18);
  svg.setAttribute("viewBox", `0 0 ${width} ${y + 18}`);
  return svg;
}

function asList(history) {
  const list = document.createElement("ol");
  for (const [at, rm, isOfRm, stream, place, isWrong] of history.messages) {
    const item = document.createElement("li");
    const who = isOfRm ? `${rm} sends` : `${rm} receives`;
    item.textContent = `${isWrong ? "unexpected: " : ""}${at.toFixed(3)} s, ${who} (${stream}): ${kept.texts[place]}`;
    list.append(item);
  }
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "as a list";
  details.append(summary, list);
  return details;
}

function fill(details) {
  const history = kept.histories[details.dataset.history];
  if (!details.open || details.childElementCount > 1 || !history) return;
  const frame = document.createElement("div");
  frame.className = "scrolls";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Sequence diagram");
  details.append(frame, asList(history));
  frame.append(drawing(history, Math.min(900, Math.max(280, frame.clientWidth - 2))));
}

for (const details of document.querySelectorAll("details.exchange")) {
  details.addEventListener("toggle", () => fill(details));
}
