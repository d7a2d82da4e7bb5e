"use strict";
/* Points into a colour and a depth texture, then shading from depth alone (eye-dome lighting, Boucheny 2009). */
const POINT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 place;
layout(location = 1) in uint code;
uniform mat4 project; uniform vec3 low, extent, from, to; uniform float size, most; uniform int ramp;
uniform sampler2D palette;
out vec3 colour; flat out int striped;
vec3 heat(float t) { // cividis-like: safe for colour-blind readers
  return t < 0.5 ? mix(vec3(0.05, 0.18, 0.42), vec3(0.49, 0.48, 0.47), t * 2.0)
                 : mix(vec3(0.49, 0.48, 0.47), vec3(0.99, 0.87, 0.25), t * 2.0 - 1.0);
}
void main() {
  vec4 entry = texelFetch(palette, ivec2(int(code), 0), 0);
  colour = ramp == 1 ? heat(clamp(place.z, 0.0, 1.0)) : entry.rgb;
  striped = ramp == 0 && code == 255u ? 1 : 0;
  gl_Position = project * vec4(low + place * extent, 1.0);
  gl_PointSize = clamp(size / max(gl_Position.w, 1e-6), 2.0, most);
  bool outside = any(lessThan(place, from)) || any(greaterThan(place, to));
  if (entry.a < 0.5 || outside) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;
const POINT_FRAGMENT = `#version 300 es
precision highp float;
in vec3 colour; flat in int striped; out vec4 shown;
uniform vec3 dark; uniform float stripe;
void main() {
  vec2 d = gl_PointCoord * 2.0 - 1.0;
  if (dot(d, d) > 1.0) discard;
  bool even = fract((gl_FragCoord.x + gl_FragCoord.y) / (2.0 * stripe)) < 0.5;
  shown = vec4(striped == 1 && even ? dark : colour, 1.0);
}`;
const SHADE_VERTEX = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;
const SHADE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colours; uniform highp sampler2D depths;
uniform float near, far, radius, strength;
out vec4 shown;
float logDepth(ivec2 at) {
  float d = texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r;
  if (d >= 1.0) return -1.0;
  return log2(2.0 * near * far / (far + near - (2.0 * d - 1.0) * (far - near)));
}
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float here = logDepth(at);
  if (here == -1.0 && texelFetch(depths, at, 0).r >= 1.0) { shown = vec4(0.0); return; }
  float sum = 0.0;
  for (int ring = 1; ring <= 2; ring++)
    for (int i = 0; i < 8; i++) {
      float angle = float(i) * 0.785398 + float(ring) * 0.3927;
      ivec2 there = at + ivec2(round(radius * float(ring) * vec2(cos(angle), sin(angle))));
      if (texelFetch(depths, clamp(there, ivec2(0), textureSize(depths, 0) - 1), 0).r >= 1.0) continue;
      sum += clamp(here - logDepth(there), 0.0, 0.06) / float(ring);
    }
  shown = vec4(texelFetch(colours, at, 0).rgb * (0.4 + 0.6 * exp(-strength * sum)), 1.0);
}`;

class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, depth: false, premultipliedAlpha: true });
    if (!gl) throw new Error("This browser offers no WebGL 2, so the points cannot be drawn. The tables below are complete.");
    this.canvas = canvas;
    this.gl = gl;
    this.points = this.program(POINT_VERTEX, POINT_FRAGMENT);
    this.shade = this.program(SHADE_VERTEX, SHADE_FRAGMENT);
    this.palette = this.texture(gl.RGBA8, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(1024));
    this.array = gl.createVertexArray();
    this.places = gl.createBuffer();
    this.codes = gl.createBuffer();
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 8, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.codes);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_BYTE, 1, 0);
    this.empty = gl.createVertexArray();
    this.target = gl.createFramebuffer();
    this.count = 0;
    this.size = [0, 0];
  }

  program(vertex, fragment) {
    const gl = this.gl;
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const places = new Map();
    return { made, at: (name) => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(made, name));
      return places.get(name);
    } };
  }

  texture(inside, width, height, format, type, data) {
    const gl = this.gl, made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, type, data);
    for (const which of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, which, gl.NEAREST);
    for (const which of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, which, gl.CLAMP_TO_EDGE);
    return made;
  }

  /* places: Uint16Array of 4 a point (the fourth unused); low, extent: the box they lie in; spacing between points. */
  setPoints(places, low, extent, spacing) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.bufferData(gl.ARRAY_BUFFER, places, gl.STATIC_DRAW);
    Object.assign(this, { count: places.length / 4, low, extent, spacing });
  }

  setCodes(codes) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.codes);
    gl.bufferData(gl.ARRAY_BUFFER, codes, gl.STATIC_DRAW);
  }

  /* 256 RGBA entries; alpha 0 hides. */
  setPalette(bytes) {
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  }

  resize() {
    const gl = this.gl, box = this.canvas.getBoundingClientRect();
    const scale = Math.min(2, Math.max(1.5, window.devicePixelRatio || 1)); // finer than the screen: smooth edges
    const [w, h] = [Math.max(1, Math.round(box.width * scale)), Math.max(1, Math.round(box.height * scale))];
    if (w === this.size[0] && h === this.size[1]) return;
    this.size = [this.canvas.width, this.canvas.height] = [w, h];
    for (const old of [this.colours, this.depths]) if (old) gl.deleteTexture(old);
    this.colours = this.texture(gl.RGBA8, w, h, gl.RGBA, gl.UNSIGNED_BYTE, null);
    this.depths = this.texture(gl.DEPTH_COMPONENT24, w, h, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.colours, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depths, 0);
  }

  get aspect() { return this.size[0] / this.size[1]; }

  /* clip: [[x, y, z] from, [x, y, z] to] in shares of the box; dark: the second colour of what has no label. */
  draw(camera, ramp, clip, dark) {
    const gl = this.gl;
    if (!this.count || gl.isContextLost()) return;
    this.resize();
    const { flat, near, far } = camera.matrix(this.aspect);
    gl.viewport(0, 0, ...this.size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.points.made);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.uniformMatrix4fv(this.points.at("project"), false, flat);
    gl.uniform3fv(this.points.at("low"), this.low);
    gl.uniform3fv(this.points.at("extent"), this.extent);
    const pixels = this.size[1] / (2 * Math.tan(camera.field / 2)); // of one metre at one metre
    gl.uniform1f(this.points.at("size"), 2.4 * this.spacing * pixels);
    gl.uniform1f(this.points.at("most"), 0.03 * this.size[1]);
    gl.uniform1i(this.points.at("ramp"), ramp ? 1 : 0);
    gl.uniform3fv(this.points.at("from"), clip[0]);
    gl.uniform3fv(this.points.at("to"), clip[1]);
    gl.uniform3fv(this.points.at("dark"), dark.map((c) => c / 255));
    gl.uniform1f(this.points.at("stripe"), 0.006 * this.size[1]);
    gl.bindVertexArray(this.array);
    gl.drawArrays(gl.POINTS, 0, this.count);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.shade.made);
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    gl.uniform1i(this.shade.at("colours"), 0);
    gl.uniform1i(this.shade.at("depths"), 1);
    gl.uniform1f(this.shade.at("near"), near);
    gl.uniform1f(this.shade.at("far"), far);
    gl.uniform1f(this.shade.at("radius"), Math.max(1, this.size[1] / 700));
    gl.uniform1f(this.shade.at("strength"), 7.0 * camera.distance / camera.reach);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
