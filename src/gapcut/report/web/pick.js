"use strict";
/* The point under the cursor, and what is known of it. */
const NEAR = 7; // pixels

/* Index of the visible point nearest to the eye within NEAR pixels of (x, y) in the view; -1 for none. */
function pointAt(x, y) {
  const scene = scenes.get(state.scene), box = byId("view").getBoundingClientRect();
  if (!scene || !state.palette) return -1;
  const { flat: m } = camera.matrix(renderer.aspect);
  const { low, extent } = scene.meta, codes = scene.layers.get(state.layer), places = scene.places;
  const [wantX, wantY] = [2 * x / box.width - 1, 1 - 2 * y / box.height];
  const [nearX, nearY] = [2 * NEAR / box.width, 2 * NEAR / box.height];
  let best = -1, closest = Infinity;
  for (let i = 0; i < scene.meta.points; i++) {
    if (!state.palette[4 * codes[i] + 3]) continue;
    const px = low[0] + extent[0] * places[4 * i] / 65535, py = low[1] + extent[1] * places[4 * i + 1] / 65535;
    const pz = low[2] + extent[2] * places[4 * i + 2] / 65535;
    const w = m[3] * px + m[7] * py + m[11] * pz + m[15];
    if (w <= 0 || w >= closest) continue;
    const dx = (m[0] * px + m[4] * py + m[8] * pz + m[12]) / w - wantX;
    const dy = (m[1] * px + m[5] * py + m[9] * pz + m[13]) / w - wantY;
    if ((dx / nearX) ** 2 + (dy / nearY) ** 2 <= 1) [best, closest] = [i, w];
  }
  return best;
}

/* Pairs of words: its labels, how sure, how high. */
function factsOf(scene, i) {
  const facts = [];
  for (const [name, codes] of scene.layers) {
    const code = codes[i];
    if (name === "segments" || name === "errors") continue;
    if (name === "height") {
      const [bottom, top] = scene.meta.heights;
      facts.push([name, `${(bottom + (top - bottom) * scene.places[4 * i + 2] / 65535).toFixed(2)} m`]);
    } else if (name === "confidence") facts.push([name, code === NONE ? "unknown" : `${code} %`]);
    else facts.push([name, code === NONE ? "no label" : page.labels[code].name]);
  }
  return facts;
}

function showPick(x, y) {
  const box = byId("pick"), frame = byId("view").getBoundingClientRect(), i = pointAt(x, y);
  box.hidden = i < 0;
  if (i < 0) return;
  box.replaceChildren(...factsOf(scenes.get(state.scene), i).flatMap(([name, fact]) => [make("dt", name), make("dd", fact)]));
  box.style.left = `${Math.max(4, Math.min(x + 14, frame.width - box.offsetWidth - 6))}px`;
  box.style.top = `${Math.max(4, Math.min(y + 14, frame.height - box.offsetHeight - 6))}px`;
}

/* A mouse that rests, or a tap. */
function listenForPicks(canvas) {
  let timer = 0, down = null;
  const hide = () => { clearTimeout(timer); byId("pick").hidden = true; };
  const place = (event) => [event.clientX - canvas.getBoundingClientRect().left, event.clientY - canvas.getBoundingClientRect().top];
  canvas.addEventListener("pointermove", (event) => {
    if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) return;
    hide();
    if (!event.buttons && event.pointerType === "mouse") timer = setTimeout(() => showPick(...place(event)), 80);
  });
  canvas.addEventListener("pointerdown", (event) => { hide(); down = event; });
  canvas.addEventListener("pointerup", (event) => {
    if (down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) showPick(...place(event));
    down = null;
  });
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  canvas.addEventListener("wheel", hide, { passive: true });
}
