"use strict";
/* The point under the cursor: what is known of it, what else it could be, and why it is not that. */
const NEAR = 7; // pixels
const SHOWN = { hover: -1, kept: -1 }; // points; the kept one stays until another is chosen

/* Pixels right and down of a place in metres in the view, and how deep it lies. */
function pixelOf([x, y, z]) {
  const { flat: m } = camera.matrix(renderer.aspect), box = byId("view").getBoundingClientRect();
  const w = m[3] * x + m[7] * y + m[11] * z + m[15];
  const [right, up] = [0, 1].map((r) => (m[r] * x + m[4 + r] * y + m[8 + r] * z + m[12 + r]) / w);
  return [(right + 1) / 2 * box.width, (1 - up) / 2 * box.height, w];
}

/* Index of the visible point nearest to the eye within NEAR pixels of (x, y) in the view; -1 for none. */
function pointAt(x, y) {
  const scene = scenes.get(state.scene), box = byId("view").getBoundingClientRect();
  if (!scene || !state.palette) return -1;
  const { flat: m } = camera.matrix(renderer.aspect);
  const { low, extent } = scene.meta, codes = scene.layers.get(state.layer), places = scene.places;
  const [from, to] = scene.clip.map((end) => end.map((share) => 65535 * share));
  const [wantX, wantY] = [2 * x / box.width - 1, 1 - 2 * y / box.height];
  const [nearX, nearY] = [2 * NEAR / box.width, 2 * NEAR / box.height];
  let best = -1, closest = Infinity;
  for (let i = 0; i < scene.meta.points; i++) {
    if (!state.palette[4 * codes[i] + 3]) continue;
    const [sx, sy, sz] = [places[4 * i], places[4 * i + 1], places[4 * i + 2]];
    if (sx < from[0] || sx > to[0] || sy < from[1] || sy > to[1] || sz < from[2] || sz > to[2]) continue;
    const px = low[0] + extent[0] * sx / 65535, py = low[1] + extent[1] * sy / 65535, pz = low[2] + extent[2] * sz / 65535;
    const w = m[3] * px + m[7] * py + m[11] * pz + m[15];
    if (w <= 0 || w >= closest) continue;
    const dx = (m[0] * px + m[4] * py + m[8] * pz + m[12]) / w - wantX;
    const dy = (m[1] * px + m[5] * py + m[9] * pz + m[13]) / w - wantY;
    if ((dx / nearX) ** 2 + (dy / nearY) ** 2 <= 1) [best, closest] = [i, w];
  }
  return best;
}

const labelName = (code) => (code === NONE ? "no label" : page.labels[code].name);
const metres = (value) => `${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} m`;
const energy = (value) => {
  const size = Math.abs(value);
  if (size < 0.001) return "≈ 0";
  return `${value < 0 ? "−" : "+"}${size >= 100 ? size.toFixed(0) : size.toPrecision(2)}`;
};

/* Pairs of words: its labels, how sure, how high. */
function factsOf(scene, i) {
  const facts = [];
  for (const [name, codes] of scene.layers) {
    const code = codes[i];
    if (name === "segments" || name === "errors" || name === "height") continue;
    if (name === "confidence") facts.push([name, code === NONE ? "unknown" : percent(Math.min(99.5, Math.max(0.5, code)))]);
    else facts.push([name, labelName(code)]);
  }
  return [...facts, ["height", metres(scene.meta.centre[2] + placeOf(scene, i)[2])]];
}

/* A mouse that rests: the facts beside the cursor, and all that is known in the panel unless a point is kept there. */
function showPick(x, y) {
  const box = byId("pick"), frame = byId("view").getBoundingClientRect(), i = pointAt(x, y);
  SHOWN.hover = i;
  box.hidden = i < 0;
  if (i < 0) return;
  box.replaceChildren(...factsOf(scenes.get(state.scene), i).flatMap(([name, fact]) => [make("dt", name), make("dd", fact)]));
  box.style.left = `${Math.max(4, Math.min(x + 14, frame.width - box.offsetWidth - 6))}px`;
  box.style.top = `${Math.max(4, Math.min(y + 14, frame.height - box.offsetHeight - 6))}px`;
  if (SHOWN.kept < 0) showDetails(i);
}

/* A click, a tap or Enter: the point stays in the panel, is marked, and read out. */
function keepPoint(i) {
  const scene = scenes.get(state.scene);
  SHOWN.kept = i;
  showDetails(i);
  if (i >= 0) speak([...factsOf(scene, i).map((pair) => pair.join(" ")), spokenReasons(scene, i)].join(", "));
  redraw();
}

function spokenReasons(scene, i) {
  if (!scene.reasons || !scene.segments[i]) return "";
  const why = reasonsOf(scene, scene.segments[i] - 1), best = why.relations[0];
  const other = `next best ${labelName(why.others[0].code)}, energy ${energy(why.others[0].worse)}`;
  return best ? `${other}; own features ${energy(why.own)}, ${best.name} ${energy(best.share)}` : other;
}

function speak(text) {
  byId("spoken").textContent = text;
}

function showDetails(i) {
  const scene = scenes.get(state.scene), box = byId("details");
  box.hidden = i < 0;
  if (i < 0) return;
  const place = placeOf(scene, i).map((v, a) => (scene.meta.centre[a] + v).toLocaleString("en", { maximumFractionDigits: 2 }));
  const list = make("dl"), pairs = factsOf(scene, i).filter(([name]) => name !== "height");
  if (scene.segments[i]) pairs.push(["segment", (scene.segments[i] - 1).toLocaleString("en")]);
  pairs.push(["x, y, z", place.join("  ")]);
  list.append(...pairs.flatMap(([name, fact]) => [make("dt", name), make("dd", fact)]));
  const head = make("h3", SHOWN.kept >= 0 ? "Point chosen" : "Point under the cursor");
  const choice = SHOWN.kept === i && scene.segments[i] && canCorrect(scene) ? [classChoice(scene, i)] : [];
  box.replaceChildren(head, list, ...choice, ...(scene.reasons && scene.segments[i] ? whyTables(scene, i) : []));
}

/* The next best labels; what speaks for the label and against the best of them. */
function whyTables(scene, i) {
  const why = reasonsOf(scene, scene.segments[i] - 1), [rival] = why.others;
  const { temperature } = scene.meta.reasons, sure = scene.layers.get("confidence")?.[i];
  const chance = ({ worse }) => {
    if (temperature === null || sure === undefined || sure === NONE) return "";
    return percent(Math.min(100, Math.max(1e-9, sure * Math.exp(-worse / temperature)))); // no label has none
  };
  const others = why.others.map((other) => [labelName(other.code), energy(other.worse), chance(other)]);
  const rest = rival.worse - why.own - why.relations.reduce((sum, { share }) => sum + share, 0);
  const shares = [["own features", why.own], ...why.relations.map(({ name, share }) => [name, share]), ["other relations", rest]];
  const beside = why.neighbours.map(({ segment, code, share }) => [`${labelName(code)} (segment ${segment.toLocaleString("en")})`, share]);
  const most = Math.max(...[...shares, ...beside].map(([, share]) => Math.abs(share)), 1e-9);
  const whole = shares.reduce((sum, [, share]) => sum + Math.abs(share), 1e-9);
  const row = ([name, share]) => [name, energy(share), bar(share / most)];
  return [
    table("Instead: energy added, probability", "With another label of this segment, all others kept", others),
    table(`Why ${labelName(why.label)}, not ${labelName(rival.code)}`,
      "What the energy between the two consists of: positive speaks for the label. A relation counts with its edges and the sums over them",
      shares.map(([name, share]) => [...row([name, share]), percent(100 * Math.abs(share) / whole)])),
    ...(beside.length ? [table("Of these, edges with", "The neighbours whose edges say most, all relations together", beside.map(row))] : []),
  ];
}

function bar(share) {
  const drawn = make("i", "", { class: share < 0 ? "against" : "for" });
  drawn.style.width = `${Math.round(36 * Math.abs(share))}px`;
  return drawn;
}

function table(title, explained, rows) {
  const made = make("table"), caption = make("caption");
  caption.append(make("abbr", title, { title: explained, tabindex: "0" }), make("span", `: ${explained}`, { class: "unseen" }));
  made.append(caption, ...rows.map(([name, ...cells]) => {
    const line = make("tr");
    line.append(make("th", name, { scope: "row", title: name }), ...cells.map((cell) => {
      const made = make("td");
      made.append(cell);
      return made;
    }));
    return line;
  }));
  return made;
}

/* A mouse that rests, a click or a tap. */
function listenForPicks(canvas) {
  let timer = 0, down = null;
  const hide = () => { clearTimeout(timer); byId("pick").hidden = true; };
  const place = (event) => [event.clientX - canvas.getBoundingClientRect().left, event.clientY - canvas.getBoundingClientRect().top];
  const still = (event) => down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4;
  canvas.addEventListener("pointermove", (event) => {
    if (still(event)) return;
    hide();
    if (!event.buttons && event.pointerType === "mouse") timer = setTimeout(() => showPick(...place(event)), 80);
  });
  canvas.addEventListener("pointerdown", (event) => { hide(); down = event; });
  canvas.addEventListener("pointerup", (event) => {
    if (still(event) && event.button === 0) choose(...place(event), true);
    down = null;
  });
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  canvas.addEventListener("wheel", hide, { passive: true });
}

/* The point at these pixels is measured or kept. */
function choose(x, y, beside) {
  const i = pointAt(x, y);
  if (measure.on) return measurePoint(i);
  if (beside) showPick(x, y);
  return keepPoint(i);
}
