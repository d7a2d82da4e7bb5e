"use strict";
/* Distance between two points, and a box that cuts away what lies outside of it. */
const measure = { on: false, points: [] };

function setMeasuring(on) {
  Object.assign(measure, { on, points: [] });
  byId("measure").setAttribute("aria-pressed", String(on));
  tellMeasure(on ? "Measure: choose two points (click, tap, or Enter for the one in the middle)." : "");
}

function measurePoint(i) {
  if (i < 0) return tellMeasure("There is no point here.");
  measure.points = measure.points.length === 1 ? [measure.points[0], i] : [i];
  const length = measured();
  return tellMeasure(length ? `${metres(length.all)} apart: ${metres(length.across)} across, ${metres(Math.abs(length.up))} ${length.up < 0 ? "down" : "up"}.` : "Now the second point.");
}

function measured() {
  if (measure.points.length < 2) return null;
  const [a, b] = measure.points.map((i) => placeOf(scenes.get(state.scene), i));
  const d = b.map((value, axis) => value - a[axis]);
  return { all: Math.hypot(...d), across: Math.hypot(d[0], d[1]), up: d[2] };
}

function tellMeasure(text) {
  byId("measured").textContent = text;
  byId("measured").hidden = !text;
  redraw();
}

/* The kept point and what is measured, over the picture. */
function drawMarks(scene) {
  const marks = byId("marks"), made = [];
  const add = (tag, attributes, text = "") => {
    const element = document.createElementNS(marks.namespaceURI, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    made.push(element);
  };
  const at = (i) => pixelOf(placeOf(scene, i));
  const ring = (i, name) => { const [cx, cy, w] = at(i); if (w > 0) add("circle", { cx, cy, r: name === "kept" ? 8 : 5, class: name }); };
  if (SHOWN.kept >= 0) ring(SHOWN.kept, "kept");
  if (measure.points.length === 2) {
    const [[x1, y1, w1], [x2, y2, w2]] = measure.points.map(at);
    if (Math.min(w1, w2) > 0) {
      add("line", { x1, y1, x2, y2 });
      add("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 8 }, metres(measured().all));
    }
  }
  measure.points.forEach((i) => ring(i, "end"));
  marks.replaceChildren(...made);
}

/* Six sliders: from and to along each axis, in thousandths of the scene. */
function makeClipSliders() {
  for (const [axis, name] of ["x", "y", "z"].entries()) {
    const row = make("fieldset"), said = make("legend", "", { id: `clip-${name}` });
    row.append(said);
    for (const [end, word] of ["from", "to"].entries()) {
      const slider = make("input", "", { type: "range", min: 0, max: 1000, value: 1000 * end, id: `clip-${name}-${word}`, "aria-label": `${name} ${word}` });
      slider.addEventListener("input", () => moveClip(axis, end, slider.value / 1000));
      row.append(slider);
    }
    byId("clip-sliders").append(row);
  }
  byId("clip-reset").addEventListener("click", () => setClip([[0, 0, 0], [1, 1, 1]]));
}

/* One end of an axis; the other end gives way. */
function moveClip(axis, end, share) {
  const clip = scenes.get(state.scene).clip.map((values) => [...values]);
  clip[end][axis] = share;
  clip[1 - end][axis] = end ? Math.min(clip[0][axis], share) : Math.max(clip[1][axis], share);
  setClip(clip);
}

function setClip(clip) {
  const scene = scenes.get(state.scene), { centre, low, extent } = scene.meta;
  scene.clip = clip;
  for (const [axis, name] of ["x", "y", "z"].entries()) {
    const ends = clip.map((values) => centre[axis] + low[axis] + extent[axis] * values[axis]);
    byId(`clip-${name}`).textContent = `${name}: ${ends.map((v) => v.toLocaleString("en", { maximumFractionDigits: 1 })).join(" to ")} m`;
    for (const [end, word] of ["from", "to"].entries()) {
      const slider = byId(`clip-${name}-${word}`);
      slider.value = 1000 * clip[end][axis];
      slider.setAttribute("aria-valuetext", `${ends[end].toFixed(1)} m`);
    }
  }
  byId("clip-reset").hidden = !isClipped(clip);
  byId("clip").classList.toggle("used", isClipped(clip));
  redraw();
}

const isClipped = (clip) => clip[0].some((v) => v > 0) || clip[1].some((v) => v < 1);
