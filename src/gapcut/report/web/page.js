"use strict";
/* Switches, camera, mouse, touch and keys. */
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
    const scene = scenes.get(state.scene);
    if (!renderer || !scene) return;
    renderer.draw(camera, state.layer === "height", scene.clip, hexBytes(page.colours.none[1]));
    drawScale();
    drawMarks(scene);
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

/* At nearly all points within the clip box; `all`: at every one of the scene, those too that lie far from the others. */
function look(pitch, turn = 0, all = false) {
  const scene = scenes.get(state.scene);
  if (!scene) return;
  renderer.resize();
  camera.yaw = broadYaw(scene.sample) + turn;
  camera.pitch = pitch;
  const { low, extent } = scene.meta;
  const corners = [...Array(8).keys()].flatMap((k) => [0, 1, 2].map((a) => low[a] + (k >> a & 1) * extent[a]));
  camera.fit(all ? corners : insideClip(scene), renderer.aspect, all);
  redraw();
}
const fit = () => look(0.42, -0.45), whole = () => look(0.42, -0.45, true);

function insideClip(scene) {
  const { low, extent } = scene.meta, kept = [];
  for (let i = 0; i < scene.sample.length; i += 3) {
    const place = scene.sample.slice(i, i + 3), shares = place.map((v, a) => (v - low[a]) / extent[a]);
    if (shares.every((s, a) => s >= scene.clip[0][a] && s <= scene.clip[1][a])) kept.push(...place);
  }
  return kept.length ? kept : scene.sample;
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

async function showScene(index, layer = state.layer) {
  state.ready = false;
  state.scene = index;
  press(byId("scenes"), index);
  byId("score").textContent = page.scenes[index].score;
  SHOWN.kept = -1;
  byId("details").hidden = byId("pick").hidden = true;
  setMeasuring(false);
  try {
    if (!scenes.has(index)) scenes.set(index, await loadScene(page.scenes[index], index));
    if (state.scene !== index) return; // another one was chosen meanwhile
    const scene = scenes.get(index);
    renderer.setPoints(scene.places, scene.meta.low, scene.meta.extent, scene.meta.spacing);
    const names = [...scene.layers.keys()];
    byId("layers").replaceChildren(...names.map((name) => make("button", name[0].toUpperCase() + name.slice(1), { type: "button", "data-value": name })));
    showLayer(names.includes(layer) ? layer : names.includes("prediction") ? "prediction" : names[0]);
    setClip(scene.clip);
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
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
    "+": () => camera.zoom(0.85), "-": () => camera.zoom(1 / 0.85),
    f: fit, t: () => look(1.5707), s: () => look(0), a: whole, l: linkView, c: () => byId("correct")?.focus(), m: () => setMeasuring(!measure.on),
    Enter: () => choose(canvas.clientWidth / 2, canvas.clientHeight / 2, false),
    Escape: () => { if (measure.on) setMeasuring(false); else keepPoint(-1); },
  };
  canvas.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
    if (!act) return;
    event.preventDefault();
    if (typeof act === "function") act();
    else if (event.shiftKey) camera.move(0.1 * act[0], -0.1 * act[1]);
    else camera.turn(0.1 * act[0], 0.1 * act[1]);
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
  byId("whole").addEventListener("click", whole);
  byId("link").addEventListener("click", linkView);
  byId("measure").addEventListener("click", () => setMeasuring(!measure.on));
  listenForCorrections();
  makeClipSliders();
  byId("all").addEventListener("click", () => { hiddenOf(scenes.get(state.scene)).clear(); applyHidden(scenes.get(state.scene)); });
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); say("The graphics driver was reset …"); });
  canvas.addEventListener("webglcontextrestored", () => { renderer = new Renderer(canvas); showScene(state.scene); });
  new ResizeObserver(redraw).observe(canvas);
  window.addEventListener("hashchange", () => openHash(location.hash));
  return openHash(location.hash);
}
start();
