"use strict";
/* A view as the end of the page's address: scene, layer, what is hidden, camera, clip box, the point chosen, what is measured. */
function viewHash() {
  const scene = scenes.get(state.scene), said = new URLSearchParams();
  said.set("scene", state.scene);
  said.set("layer", state.layer);
  said.set("view", camera.place.map((v) => +v.toPrecision(7)).join(","));
  const hidden = [...hiddenOf(scene)];
  if (hidden.length && state.layer === "confidence") said.set("sure", mostSure(scene));
  else if (hidden.length) said.set("hide", hidden.join(","));
  if (isClipped(scene.clip)) said.set("clip", scene.clip.flat().join(","));
  if (SHOWN.kept >= 0) said.set("point", SHOWN.kept);
  if (measure.points.length) said.set("measure", measure.points.join(","));
  return `#${said.toString().replaceAll("%2C", ",")}`;
}

/* Numbers of a list, or null where it is absent or holds anything else than `length` (if given) numbers. */
function numbersOf(text, length) {
  if (!text) return null;
  const numbers = text.split(",").map(Number);
  return numbers.every(Number.isFinite) && (length === undefined || numbers.length === length) ? numbers : null;
}

/* What an address says, and no more: what was hidden or clipped before is whole again. Anything that does not fit this page is passed over. */
async function openHash(hash) {
  const said = new URLSearchParams(hash.slice(1)), index = +(said.get("scene") ?? 0);
  await showScene(page.scenes[index] ? index : 0, said.get("layer"));
  const scene = scenes.get(state.scene);
  if (!scene) return;
  const points = (text) => (numbersOf(text) ?? []).filter((i) => Number.isInteger(i) && i >= 0 && i < scene.meta.points);
  const place = numbersOf(said.get("view"), 7), clip = numbersOf(said.get("clip"), 6);
  if (place) camera.place = place;
  setClip(clip ? [clip.slice(0, 3), clip.slice(3)] : [[0, 0, 0], [1, 1, 1]]);
  scene.hidden.clear();
  if (state.layer === "confidence") showAtMost(scene, Math.min(100, Math.max(0, +(said.get("sure") ?? 100) || 0)));
  else {
    (numbersOf(said.get("hide")) ?? []).forEach((code) => hiddenOf(scene).add(code));
    applyHidden(scene);
  }
  const [kept] = points(said.get("point")), ends = points(said.get("measure")).slice(0, 2);
  if (ends.length) {
    setMeasuring(true);
    ends.forEach(measurePoint);
  }
  if (kept !== undefined) keepPoint(kept);
  redraw();
}

/* Into the address bar, and where the browser allows it, the clipboard. */
async function linkView() {
  history.replaceState(null, "", viewHash());
  let copied = false;
  try {
    await navigator.clipboard.writeText(location.href);
    copied = true;
  } catch { /* the address bar has it */ }
  tellMeasure(copied ? "The link to this view is copied." : "The address bar holds the link to this view.");
}
