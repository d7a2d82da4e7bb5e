"use strict";
/* The legend of a layer, and what of it is hidden. */
const stripes = ([light, dark]) => `repeating-linear-gradient(135deg, ${light} 0 3px, ${dark} 3px 6px)`;

function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/* Per cent of a whole: 0 and 100 stand for none and all alone. */
function percent(value, digits = 0) {
  const least = 10 ** -digits;
  if (value > 0 && value < least) return `< ${least} %`;
  if (value < 100 && value > 100 - least) return `> ${100 - least} %`;
  return `${value.toFixed(digits)} %`;
}

function hiddenOf(scene) {
  const kind = ["errors", "segments", "confidence"].includes(state.layer) ? state.layer : "labels";
  if (!scene.hidden.has(kind)) scene.hidden.set(kind, new Set());
  return scene.hidden.get(kind);
}

function applyHidden(scene) {
  const hidden = hiddenOf(scene);
  state.palette = paletteOf(state.layer, page, state.layer === "height" ? new Set() : hidden);
  renderer.setPalette(state.palette);
  for (const button of byId("legend").querySelectorAll("button")) button.setAttribute("aria-pressed", String(!hidden.has(+button.dataset.code)));
  redraw();
}

function drawLegend(scene) {
  const counts = new Uint32Array(256);
  for (const code of scene.layers.get(state.layer)) counts[code]++;
  byId("legend-title").textContent = state.layer[0].toUpperCase() + state.layer.slice(1);
  const list = byId("legend");
  list.replaceChildren();
  for (const { code, name, colour } of entriesOf(state.layer, page)) {
    if (!counts[code]) continue;
    const button = make("button", "", { type: "button", "data-code": code, title: name });
    const swatch = make("i");
    swatch.style.background = code === NONE ? stripes(page.colours.none) : colour;
    const share = 100 * counts[code] / scene.meta.points;
    button.append(swatch, make("span", name), make("small", percent(share, 1)));
    button.addEventListener("click", (event) => toggle(scene, code, event.shiftKey));
    list.append(make("li"));
    list.lastElementChild.append(button);
  }
  list.classList.toggle("many", list.children.length > 6);
  byId("all").hidden = !list.children.length;
  if (state.layer === "height") {
    const ramp = make("li", "", { class: "ramp" }), ends = make("li", "", { class: "ends" });
    ramp.style.background = "linear-gradient(90deg, #0d2e6b, #7d7a78, #fcde40)";
    const { centre, extent } = scene.meta;
    ends.append(...[-0.5, 0.5].map((share) => make("span", `${(centre[2] + share * extent[2]).toFixed(1)} m`)));
    list.append(ramp, ends);
  }
  if (state.layer === "confidence") list.append(...confidenceControls(scene));
  if (state.layer === "segments") list.append(make("li", `${scene.meta.segments.toLocaleString("en")} segments, random colours`));
  const shown = scene.meta.points.toLocaleString("en"), all = scene.meta.of.toLocaleString("en");
  byId("count").textContent = shown === all ? `${all} points` : `${shown} of ${all} points are shown`;
}

/* The colours of confidence, and a slider that leaves only the points at most so sure: where is the model in doubt? */
function confidenceControls(scene) {
  const ramp = make("li", "", { class: "ramp" }), ends = make("li", "", { class: "ends" }), item = make("li");
  ramp.style.background = `linear-gradient(90deg, ${[0, 50, 100].map((code) => `rgb(${confidenceColour(code)})`)})`;
  ends.append(make("span", "0 %"), make("span", "100 %"));
  const most = mostSure(scene);
  const filter = make("label", "", { class: "filter" }), said = make("span", `Show points at most ${most} % sure`);
  const slider = make("input", "", { id: "most-sure", type: "range", min: 0, max: 100, value: most });
  slider.addEventListener("input", () => showAtMost(scene, +slider.value));
  filter.append(said, slider);
  item.append(filter);
  return [ramp, ends, item];
}

const mostSure = (scene) => 100 - [...hiddenOf(scene)].filter((code) => code <= 100).length;

function showAtMost(scene, most) {
  const hidden = hiddenOf(scene), slider = byId("most-sure");
  hidden.clear();
  for (let code = most + 1; code <= 100; code++) hidden.add(code);
  if (most < 100) hidden.add(NONE);
  slider.value = most;
  slider.previousElementSibling.textContent = `Show points at most ${most} % sure`;
  applyHidden(scene);
}

function toggle(scene, code, alone) {
  const hidden = hiddenOf(scene);
  const codes = [...byId("legend").querySelectorAll("button")].map((b) => +b.dataset.code);
  if (alone) {
    const isAlone = codes.every((c) => hidden.has(c) === (c !== code));
    hidden.clear();
    if (!isAlone) codes.filter((c) => c !== code).forEach((c) => hidden.add(c));
  } else if (!hidden.delete(code)) hidden.add(code);
  applyHidden(scene);
}

