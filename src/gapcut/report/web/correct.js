"use strict";
/* Classes chosen for segments of a labelled scan, and the file that takes them to gapcut scenes train. */
const correcting = { order: [], saved: true }; // [scene, segment] in the order of choice

const canCorrect = (scene) => Boolean(scene.meta.key) && scene.layers.has("prediction");

/* The choice of a class for the segment of a point that is kept. */
function classChoice(scene, i) {
  const segment = scene.segments[i] - 1, label = make("label", `Class of segment ${segment.toLocaleString("en")} `, { class: "correct" });
  const choice = make("select", "", { id: "correct" }), chosen = scene.corrected.get(segment);
  choice.append(make("option", "as labelled, not checked", { value: "" }));
  choice.append(...page.labels.map(({ name }, code) => make("option", name, { value: code })));
  choice.value = chosen === undefined ? "" : chosen;
  choice.addEventListener("change", () => {
    correct(state.scene, segment, choice.value === "" ? undefined : +choice.value);
    showDetails(i);
    byId("correct").focus();
  });
  label.append(choice);
  return label;
}

/* A segment gets a class, the one that it has included, or (undefined) is as it was labelled. */
function correct(index, segment, code) {
  const scene = scenes.get(index), codes = scene.layers.get("prediction");
  const points = [...scene.segments.keys()].filter((i) => scene.segments[i] === segment + 1);
  if (!scene.before.has(segment)) scene.before.set(segment, codes[points[0]]);
  const now = code ?? scene.before.get(segment);
  for (const i of points) codes[i] = now;
  correcting.order = correcting.order.filter(([s, other]) => s !== index || other !== segment);
  scene.corrected.delete(segment);
  if (code !== undefined) {
    scene.corrected.set(segment, code);
    correcting.order.push([index, segment]);
  }
  correcting.saved = !correcting.order.length;
  if (index === state.scene) showLayer(state.layer);
  tellCorrections();
  speak(`Segment ${segment.toLocaleString("en")}: ${labelName(now)}`);
}

function undoCorrection() {
  const [index, segment] = correcting.order.at(-1);
  correct(index, segment);
  if (SHOWN.kept >= 0) showDetails(SHOWN.kept);
}

function tellCorrections() {
  const n = correcting.order.length, changed = correcting.order.filter(([s, k]) => scenes.get(s).corrected.get(k) !== scenes.get(s).before.get(k)).length;
  byId("corrections").hidden = !n;
  byId("corrected").textContent = `${n} ${n === 1 ? "segment" : "segments"} checked, ${changed} of them changed${correcting.saved ? ", saved" : ""}.`;
}

/* What gapcut scenes train --corrections reads. */
function correctionsFile() {
  const scans = [...scenes].sort(([a], [b]) => a - b).filter(([, scene]) => scene.corrected.size).map(([, scene]) => ({
    scan: scene.meta.name,
    key: scene.meta.key,
    segments: [...scene.corrected].sort(([a], [b]) => a - b).map(([segment, code]) => ({ segment, class: page.labels[code].name, was: labelName(scene.before.get(segment)) })),
  }));
  return `${JSON.stringify({ gapcut: "corrections", format: 1, scans }, null, 1)}\n`;
}

function saveCorrections() {
  const address = URL.createObjectURL(new Blob([correctionsFile()], { type: "application/json" }));
  const link = make("a", "", { href: address, download: `${scenes.get(state.scene).meta.name}.corrections.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  correcting.saved = true;
  tellCorrections();
}

function listenForCorrections() {
  byId("undo").addEventListener("click", undoCorrection);
  byId("save").addEventListener("click", saveCorrections);
  window.addEventListener("beforeunload", (event) => { if (!correcting.saved) event.preventDefault(); });
}
