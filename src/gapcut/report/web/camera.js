"use strict";
/* A camera that turns around a target. z is up; angles in radians, lengths in metres. */
class Camera {
  constructor() {
    this.field = 0.7; // vertical field of view
    this.target = [0, 0, 0];
    this.distance = 1;
    this.yaw = 0;
    this.pitch = 0.4;
    this.reach = 1; // radius of what is looked at
  }

  /* Unit vectors: right, up, and back (from the target to the eye). */
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    return { right: [cy, sy, 0], up: [-sp * sy, sp * cy, cp], back: [cp * sy, -cp * cy, sp] };
  }

  turn(dx, dy) {
    this.yaw -= dx;
    this.pitch = Math.min(1.5707, Math.max(-1.5707, this.pitch + dy));
  }

  zoom(factor) {
    this.distance = Math.min(50 * this.reach, Math.max(0.002 * this.reach, this.distance * factor));
  }

  /* dx, dy in shares of the view's height. */
  move(dx, dy) {
    const { right, up } = this.axes();
    const span = 2 * this.distance * Math.tan(this.field / 2);
    for (let i = 0; i < 3; i++) this.target[i] += span * (dy * up[i] - dx * right[i]);
  }

  /* Look at the points (flat array of x, y, z) so that they fill the view: nearly all of them, or `all`. */
  fit(points, aspect, all = false) {
    const { right, up, back } = this.axes();
    const n = points.length / 3, rest = all ? 0 : 0.004;
    const along = (axis) => Float64Array.from({ length: n }, (_, i) =>
      points[3 * i] * axis[0] + points[3 * i + 1] * axis[1] + points[3 * i + 2] * axis[2]);
    const [x, y, z] = [along(right), along(up), along(back)];
    const ends = (values) => {
      const sorted = Float64Array.from(values).sort();
      return [sorted[Math.floor(rest * (n - 1))], sorted[Math.ceil((1 - rest) * (n - 1))]];
    };
    const [ex, ey, ez] = [ends(x), ends(y), ends(z)];
    const slopeY = Math.tan(this.field / 2) * 0.92, slopeX = slopeY * aspect;
    let centre = [(ex[0] + ex[1]) / 2, (ey[0] + ey[1]) / 2, (ez[0] + ez[1]) / 2];
    this.reach = Math.max(1e-6, Math.hypot(ex[1] - ex[0], ey[1] - ey[0], ez[1] - ez[0]) / 2);
    for (let round = 0; round < 4; round++) {
      const need = Float64Array.from({ length: n }, (_, i) => z[i] - centre[2] +
        Math.max(Math.abs(x[i] - centre[0]) / slopeX, Math.abs(y[i] - centre[1]) / slopeY));
      this.distance = Math.max(ends(need)[1], 0.05 * this.reach);
      // the middle of what is seen, in view coordinates, becomes the centre
      const seen = (values, c) => ends(values.map((v, i) => (v - c) / Math.max(1e-9, this.distance - z[i] + centre[2])));
      const [sx, sy] = [seen(x, centre[0]), seen(y, centre[1])];
      centre = [centre[0] + this.distance * (sx[0] + sx[1]) / 2, centre[1] + this.distance * (sy[0] + sy[1]) / 2, centre[2]];
    }
    for (let i = 0; i < 3; i++) this.target[i] = right[i] * centre[0] + up[i] * centre[1] + back[i] * centre[2];
  }

  /* Where it is, in seven numbers, and back. */
  get place() { return [this.yaw, this.pitch, this.distance, ...this.target, this.reach]; }
  set place(numbers) { [this.yaw, this.pitch, this.distance, this.target[0], this.target[1], this.target[2], this.reach] = numbers; }

  /* Column-major view-projection matrix, and the planes it clips at. */
  matrix(aspect) {
    const { right, up, back } = this.axes();
    const eye = this.target.map((t, i) => t + back[i] * this.distance);
    const dot = (a) => -(a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2]);
    const far = this.distance + 6 * this.reach;
    const near = Math.max(this.distance - 3 * this.reach, this.distance * 0.01, far * 1e-4);
    const f = 1 / Math.tan(this.field / 2), a = (far + near) / (near - far), b = 2 * far * near / (near - far);
    const rows = [[...right, dot(right)], [...up, dot(up)], [...back, dot(back)]];
    const product = [rows[0].map((v) => v * f / aspect), rows[1].map((v) => v * f),
      rows[2].map((v, i) => v * a + (i === 3 ? b : 0)), rows[2].map((v) => -v)];
    const flat = new Float32Array(16);
    for (let r = 0; r < 4; r++) for (let c = 0; c < 4; c++) flat[4 * c + r] = product[r][c];
    return { flat, near, far };
  }
}
