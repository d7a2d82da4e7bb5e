"use strict";
/* Switches, legend, mouse, touch and keys. */
const byId = (id) => document.getElementById(id);
const page = JSON.parse(byId("page-data").textContent);
const camera = new Camera();
const scenes = new Map();
const state = { scene: 0, layer: null, ready: false };
let renderer = null, waiting = false;

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (!renderer || !scenes.has(state.scene)) return;
    renderer.draw(camera, state.layer === "height");
    drawScale();
  });
}

function drawScale() {
  const box = byId("view").getBoundingClientRect();
  const metres = 2 * camera.distance * Math.tan(camera.field / 2) / box.height; // of one pixel at the target
  const most = 140 * metres, power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((k) => k * power).find((k) => k <= most);
  const bar = byId("scale").firstElementChild;
  bar.style.width = `${length / metres}px`;
  bar.textContent = length >= 1000 ? `${length / 1000} km` : length >= 1 ? `${length} m` : `${+(length * 100).toPrecision(3)} cm`;
}

function look(pitch, turn = 0) {
  const scene = scenes.get(state.scene);
  if (!scene) return;
  renderer.resize();
  camera.yaw = broadYaw(scene.sample) + turn;
  camera.pitch = pitch;
  camera.fit(scene.sample, renderer.aspect);
  redraw();
}
const fit = () => look(0.42, -0.45);

function hiddenOf(scene) {
  const kind = ["errors", "segments", "confidence"].includes(state.layer) ? state.layer : "labels";
  if (!scene.hidden.has(kind)) scene.hidden.set(kind, new Set());
  return scene.hidden.get(kind);
}

function press(group, value) {
  for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
}

function showLayer(layer) {
  const scene = scenes.get(state.scene);
  state.layer = layer;
  press(byId("layers"), layer);
  renderer.setCodes(scene.layers.get(layer));
  drawLegend(scene);
  applyHidden(scene);
}

function applyHidden(scene) {
  const hidden = hiddenOf(scene);
  state.palette = paletteOf(scene, state.layer, page, state.layer === "height" ? new Set() : hidden);
  renderer.setPalette(state.palette);
  for (const button of byId("legend").querySelectorAll("button")) button.setAttribute("aria-pressed", String(!hidden.has(+button.dataset.code)));
  redraw();
}

function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function drawLegend(scene) {
  const counts = new Uint32Array(256);
  for (const code of scene.layers.get(state.layer)) counts[code]++;
  byId("legend-title").textContent = state.layer[0].toUpperCase() + state.layer.slice(1);
  const list = byId("legend");
  list.replaceChildren();
  for (const { code, name, colour } of entriesOf(scene, state.layer, page)) {
    if (!counts[code]) continue;
    const button = make("button", "", { type: "button", "data-code": code, title: name });
    const swatch = make("i");
    swatch.style.background = colour;
    const share = 100 * counts[code] / scene.meta.points;
    button.append(swatch, make("span", name), make("small", share >= 0.1 ? `${share.toFixed(1)} %` : "< 0.1 %"));
    button.addEventListener("click", (event) => toggle(scene, code, event.shiftKey));
    list.append(make("li"));
    list.lastElementChild.append(button);
  }
  byId("all").hidden = !list.children.length;
  if (state.layer === "height") {
    const ramp = make("li", "", { class: "ramp" }), ends = make("li", "", { class: "ends" });
    ramp.style.background = "linear-gradient(90deg, #0d2e6b, #7d7a78, #fcde40)";
    ends.append(make("span", `${scene.meta.heights[0].toFixed(1)} m`), make("span", `${scene.meta.heights[1].toFixed(1)} m`));
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
  const hidden = hiddenOf(scene), most = 100 - [...hidden].filter((code) => code <= 100).length;
  const filter = make("label", "", { class: "filter" }), said = make("span", `Show points at most ${most} % sure`);
  const slider = make("input", "", { id: "most-sure", type: "range", min: 0, max: 100, value: most });
  slider.addEventListener("input", () => {
    said.textContent = `Show points at most ${slider.value} % sure`;
    hidden.clear();
    for (let code = +slider.value + 1; code <= 100; code++) hidden.add(code);
    if (+slider.value < 100) hidden.add(NONE);
    applyHidden(scene);
  });
  filter.append(said, slider);
  item.append(filter);
  return [ramp, ends, item];
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

async function showScene(index) {
  state.ready = false;
  state.scene = index;
  press(byId("scenes"), index);
  try {
    if (!scenes.has(index)) scenes.set(index, await loadScene(page.scenes[index], index));
    if (state.scene !== index) return; // another one was chosen meanwhile
    const scene = scenes.get(index);
    renderer.setPoints(scene.places, scene.meta.low, scene.meta.extent, scene.meta.spacing);
    const names = [...scene.layers.keys()];
    byId("layers").replaceChildren(...names.map((name) => make("button", name[0].toUpperCase() + name.slice(1), { type: "button", "data-value": name })));
    showLayer(names.includes(state.layer) ? state.layer : names.includes("prediction") ? "prediction" : names[0]);
    fit();
    byId("message").hidden = true;
    requestAnimationFrame(() => { state.ready = true; });
  } catch (error) {
    say(error.message);
  }
}

function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = false;
}

function listScenes() {
  const group = byId("scenes");
  group.hidden = page.scenes.length < 2;
  if (page.scenes.length <= 6) {
    group.append(...page.scenes.map((scene, k) => make("button", scene.name, { type: "button", "data-value": k })));
    group.addEventListener("click", (event) => event.target.dataset.value && showScene(+event.target.dataset.value));
    return undefined;
  }
  const select = make("select", "", { "aria-label": "Scene" });
  select.append(...page.scenes.map((scene, k) => make("option", scene.name, { value: k })));
  select.addEventListener("change", () => showScene(+select.value));
  return group.append(select);
}

function listenToPointers(canvas) {
  const held = new Map();
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId));
  listenForPicks(canvas);
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const height = canvas.clientHeight;
    const [dx, dy] = [(event.clientX - before.clientX) / height, (event.clientY - before.clientY) / height];
    if (held.size === 2) {
      const other = [...held.values()].find((e) => e.pointerId !== event.pointerId);
      const span = (e) => Math.max(10, Math.hypot(e.clientX - other.clientX, e.clientY - other.clientY));
      camera.zoom(span(before) / span(event));
      camera.move(dx / 2, dy / 2);
    } else if (event.buttons & 6 || event.shiftKey) camera.move(dx, dy);
    else camera.turn(4 * dx, 4 * dy);
    held.set(event.pointerId, event);
    redraw();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp((event.deltaMode ? 30 : 1) * Math.max(-300, Math.min(300, event.deltaY)) * 0.0015));
    redraw();
  }, { passive: false });
}

function listenToKeys(canvas) {
  const keys = {
    ArrowLeft: () => camera.turn(-0.1, 0), ArrowRight: () => camera.turn(0.1, 0), ArrowUp: () => camera.turn(0, 0.1),
    ArrowDown: () => camera.turn(0, -0.1), "+": () => camera.zoom(0.85), "-": () => camera.zoom(1 / 0.85),
    f: fit, t: () => look(1.5707), s: () => look(0),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
    redraw();
  });
}

function start() {
  const canvas = byId("view");
  try {
    renderer = new Renderer(canvas);
  } catch (error) {
    return say(error.message);
  }
  listScenes();
  listenToPointers(canvas);
  listenToKeys(canvas);
  byId("layers").addEventListener("click", (event) => event.target.dataset.value && showLayer(event.target.dataset.value));
  byId("fit").addEventListener("click", fit);
  byId("top").addEventListener("click", () => look(1.5707));
  byId("side").addEventListener("click", () => look(0));
  byId("all").addEventListener("click", () => { hiddenOf(scenes.get(state.scene)).clear(); applyHidden(scenes.get(state.scene)); });
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); say("The graphics driver was reset …"); });
  canvas.addEventListener("webglcontextrestored", () => { renderer = new Renderer(canvas); showScene(state.scene); });
  new ResizeObserver(redraw).observe(canvas);
  return showScene(0);
}
start();
