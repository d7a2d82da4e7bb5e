"use strict";
/* A scene as it lies in the page: gzip, base64; positions of all points axis by axis, one byte a point and layer, numbers
   of segments. See packing.py. */
const NONE = 255;

async function unpack(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack the points.");
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function loadScene(meta, index) {
  const bytes = await unpack(document.getElementById(`scene-${index}`).textContent.trim());
  const n = meta.points;
  const places = new Uint16Array(4 * n);
  for (let axis = 0; axis < 3; axis++) { // low bytes of all points, then high bytes; each the step from the point before
    let value = 0;
    const [low, high] = [2 * axis * n, (2 * axis + 1) * n];
    for (let i = 0; i < n; i++) {
      value = (value + bytes[low + i] + 256 * bytes[high + i]) & 65535;
      places[4 * i + axis] = value;
    }
  }
  const layers = new Map(meta.layers.map((name, k) => [name, bytes.subarray((6 + k) * n, (7 + k) * n)]));
  const [truth, prediction] = [layers.get("truth"), layers.get("prediction")];
  if (truth && prediction)
    layers.set("errors", Uint8Array.from(truth, (t, i) => (t === NONE || prediction[i] === NONE ? NONE : t === prediction[i] ? 0 : 1)));
  const segments = new Uint32Array(n); // the number plus one, 0 for none
  for (let k = 0; k < meta.segment_bytes; k++) {
    const plane = bytes.subarray((6 + meta.layers.length + k) * n);
    for (let i = 0; i < n; i++) segments[i] += plane[i] * 2 ** (8 * k);
  }
  if (meta.segment_bytes) layers.set("segments", Uint8Array.from(segments, (s) => (s ? (s - 1) % 255 : NONE)));
  layers.set("height", new Uint8Array(n));
  const reasons = meta.reasons ? await unpack(document.getElementById(`reasons-${index}`).textContent.trim()) : null;
  const clip = [[0, 0, 0], [1, 1, 1]];
  return { meta, places, layers, segments, reasons, clip, sample: samplePlaces(meta, places), hidden: new Map(), corrected: new Map(), before: new Map() };
}

/* Metres in the page's own coordinates, whose origin is the middle of the scene. */
const placeOf = (scene, i) => [0, 1, 2].map((a) => scene.meta.low[a] + scene.meta.extent[a] * scene.places[4 * i + a] / 65535);

/* Why a segment (number from 0) has its label: see packing.py. */
function reasonsOf(scene, segment) {
  const { segments: n, others, relations, neighbours, bytes, names } = scene.meta.reasons;
  const number = (plane, width) => [...Array(width).keys()].reduce((sum, k) => sum + scene.reasons[(plane + k) * n + segment] * 256 ** k, 0);
  const energy = (k) => half(number(1 + others + 2 * k, 2));
  const after = 1 + others + 2 * (others + 1 + relations + neighbours);
  const some = (count, make) => [...Array(count).keys()].map(make);
  return {
    label: number(0, 1),
    own: energy(others),
    others: some(others, (k) => ({ code: number(1 + k, 1), worse: energy(k) })),
    relations: some(relations, (k) => ({ name: names[number(after + k, 1)], share: energy(others + 1 + k) })),
    neighbours: some(neighbours, (k) => {
      const other = number(after + relations + k * bytes, bytes) - 1;
      return { segment: other, code: scene.reasons[Math.max(other, 0)], share: energy(others + 1 + relations + k) };
    }).filter((found) => found.segment >= 0 && found.share !== 0),
  };
}

/* A half float from its bits. */
function half(bits) {
  const exponent = bits >> 10 & 31, share = (bits & 1023) / 1024;
  return (bits & 32768 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + share) : 2 ** -14 * share);
}

/* At most 20,000 points in metres, to fit the camera to. */
function samplePlaces(meta, places) {
  const n = meta.points, step = Math.max(1, Math.ceil(n / 20000));
  const sample = [];
  for (let i = 0; i < n; i += step)
    for (let axis = 0; axis < 3; axis++) sample.push(meta.low[axis] + meta.extent[axis] * places[4 * i + axis] / 65535);
  return sample;
}

/* The yaw from which the longest horizontal direction lies across the view. */
function broadYaw(sample) {
  const n = sample.length / 3;
  let [mx, my, xx, yy, xy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) { mx += sample[3 * i] / n; my += sample[3 * i + 1] / n; }
  for (let i = 0; i < n; i++) {
    const [dx, dy] = [sample[3 * i] - mx, sample[3 * i + 1] - my];
    xx += dx * dx; yy += dy * dy; xy += dx * dy;
  }
  return 0.5 * Math.atan2(2 * xy, xx - yy);
}

function entriesOf(layer, page) {
  const { right, wrong, none } = page.colours, missing = { code: NONE, name: "no label", colour: none[0] };
  if (layer === "errors") return [{ code: 0, name: "right", colour: right }, { code: 1, name: "wrong", colour: wrong }, missing];
  if (["height", "segments", "confidence"].includes(layer)) return [];
  return [...page.labels.map((l, code) => ({ code, ...l })), missing];
}

const hexBytes = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/* 256 RGBA entries of a layer; codes in `hidden` get alpha 0. */
function paletteOf(layer, page, hidden) {
  const bytes = new Uint8Array(1024).fill(255);
  const put = (code, rgb) => bytes.set([...rgb, hidden.has(code) ? 0 : 255], 4 * code);
  if (layer === "segments") for (let k = 0; k < 256; k++) put(k, segmentColour(k));
  if (layer === "confidence") for (let k = 0; k < 256; k++) put(k, confidenceColour(k));
  for (const { code, colour } of entriesOf(layer, page)) put(code, hexBytes(colour));
  return bytes;
}

/* Of a percentage: from vermilion (in doubt) over grey to blue (sure), which colour-blind readers tell apart. */
function confidenceColour(code) {
  if (code > 100) return [195, 199, 205];
  const t = code / 100, [from, to] = t < 0.5 ? [[213, 94, 0], [200, 200, 200]] : [[200, 200, 200], [0, 114, 178]];
  return from.map((a, k) => Math.round(a + (to[k] - a) * (t < 0.5 ? 2 * t : 2 * t - 1)));
}

/* Colours far apart for neighbouring codes: hue by the golden ratio, three lightnesses. */
function segmentColour(k) {
  if (k === NONE) return [195, 199, 205];
  const hue = (k * 0.61803398875) % 1, light = [0.48, 0.6, 0.72][k % 3], chroma = 0.62 * Math.min(light, 1 - light);
  return [0, 8, 4].map((n) => {
    const t = (n + hue * 12) % 12;
    return Math.round(255 * (light - chroma * Math.max(-1, Math.min(t - 3, 9 - t, 1))));
  });
}
