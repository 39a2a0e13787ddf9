// Column-major matrices, boxes and projection, as three.js and WebGL have them.
(() => {
  const WS = globalThis.__WS;
  const mul = (a, b) => {
    const o = new Array(16);
    for (let c = 0; c < 4; c++)
      for (let r = 0; r < 4; r++)
        o[c * 4 + r] = a[r] * b[c * 4] + a[4 + r] * b[c * 4 + 1] + a[8 + r] * b[c * 4 + 2] + a[12 + r] * b[c * 4 + 3];
    return o;
  };
  const tp = (m, x, y, z) => [
    m[0] * x + m[4] * y + m[8] * z + m[12],
    m[1] * x + m[5] * y + m[9] * z + m[13],
    m[2] * x + m[6] * y + m[10] * z + m[14],
    m[3] * x + m[7] * y + m[11] * z + m[15],
  ];
  const inv = m => {
    const a = m,
      r = new Array(16);
    const b00 = a[0] * a[5] - a[1] * a[4],
      b01 = a[0] * a[6] - a[2] * a[4],
      b02 = a[0] * a[7] - a[3] * a[4],
      b03 = a[1] * a[6] - a[2] * a[5],
      b04 = a[1] * a[7] - a[3] * a[5],
      b05 = a[2] * a[7] - a[3] * a[6],
      b06 = a[8] * a[13] - a[9] * a[12],
      b07 = a[8] * a[14] - a[10] * a[12],
      b08 = a[8] * a[15] - a[11] * a[12],
      b09 = a[9] * a[14] - a[10] * a[13],
      b10 = a[9] * a[15] - a[11] * a[13],
      b11 = a[10] * a[15] - a[11] * a[14];
    let d = b00 * b11 - b01 * b10 + b02 * b09 + b03 * b08 - b04 * b07 + b05 * b06;
    if (!d) return null;
    d = 1 / d;
    r[0] = (a[5] * b11 - a[6] * b10 + a[7] * b09) * d;
    r[1] = (a[2] * b10 - a[1] * b11 - a[3] * b09) * d;
    r[2] = (a[13] * b05 - a[14] * b04 + a[15] * b03) * d;
    r[3] = (a[10] * b04 - a[9] * b05 - a[11] * b03) * d;
    r[4] = (a[6] * b08 - a[4] * b11 - a[7] * b07) * d;
    r[5] = (a[0] * b11 - a[2] * b08 + a[3] * b07) * d;
    r[6] = (a[14] * b02 - a[12] * b05 - a[15] * b01) * d;
    r[7] = (a[8] * b05 - a[10] * b02 + a[11] * b01) * d;
    r[8] = (a[4] * b10 - a[5] * b08 + a[7] * b06) * d;
    r[9] = (a[1] * b08 - a[0] * b10 - a[3] * b06) * d;
    r[10] = (a[12] * b04 - a[13] * b02 + a[15] * b00) * d;
    r[11] = (a[9] * b02 - a[8] * b04 - a[11] * b00) * d;
    r[12] = (a[5] * b07 - a[4] * b09 - a[6] * b06) * d;
    r[13] = (a[0] * b09 - a[1] * b07 + a[2] * b06) * d;
    r[14] = (a[13] * b01 - a[12] * b03 - a[14] * b00) * d;
    r[15] = (a[8] * b03 - a[9] * b01 + a[10] * b00) * d;
    return r;
  };
  const q5 = v => (Math.abs(v) < 5e-7 ? 0 : Math.round(v * 1e6) / 1e6);
  const qa = a => Array.from(a, v => (Number.isFinite(v) ? q5(v) : null));
  const decompose = m => {
    let sx = Math.hypot(m[0], m[1], m[2]),
      sy = Math.hypot(m[4], m[5], m[6]),
      sz = Math.hypot(m[8], m[9], m[10]);
    const det =
      m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) + m[8] * (m[1] * m[6] - m[2] * m[5]);
    if (det < 0) sx = -sx;
    const a = sx || 1,
      b = sy || 1,
      c = sz || 1,
      r = [m[0] / a, m[1] / a, m[2] / a, m[4] / b, m[5] / b, m[6] / b, m[8] / c, m[9] / c, m[10] / c];
    const t = r[0] + r[4] + r[8];
    let q;
    if (t > 0) {
      const s = 0.5 / Math.sqrt(t + 1);
      q = [(r[5] - r[7]) * s, (r[6] - r[2]) * s, (r[1] - r[3]) * s, 0.25 / s];
    } else if (r[0] > r[4] && r[0] > r[8]) {
      const s = 2 * Math.sqrt(1 + r[0] - r[4] - r[8]);
      q = [0.25 * s, (r[3] + r[1]) / s, (r[6] + r[2]) / s, (r[5] - r[7]) / s];
    } else if (r[4] > r[8]) {
      const s = 2 * Math.sqrt(1 + r[4] - r[0] - r[8]);
      q = [(r[3] + r[1]) / s, 0.25 * s, (r[7] + r[5]) / s, (r[6] - r[2]) / s];
    } else {
      const s = 2 * Math.sqrt(1 + r[8] - r[0] - r[4]);
      q = [(r[6] + r[2]) / s, (r[7] + r[5]) / s, 0.25 * s, (r[1] - r[3]) / s];
    }
    return {position: qa([m[12], m[13], m[14]]), quaternion: qa(q), scale: qa([sx, sy, sz]), mirrored: det < 0};
  };
  const ident = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const grow = (b, x, y, z) => {
    if (x < b[0]) b[0] = x;
    if (y < b[1]) b[1] = y;
    if (z < b[2]) b[2] = z;
    if (x > b[3]) b[3] = x;
    if (y > b[4]) b[4] = y;
    if (z > b[5]) b[5] = z;
  };
  const newBox = () => [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  const boxOut = b => (b[0] === Infinity ? null : {min: qa(b.slice(0, 3)), max: qa(b.slice(3))});
  const project = (P, W, H, pts) => {
    let x0 = Infinity,
      y0 = Infinity,
      x1 = -Infinity,
      y1 = -Infinity,
      zmin = Infinity,
      zmax = -Infinity,
      behind = 0,
      n = 0;
    for (const p of pts) {
      const c = tp(P, p[0], p[1], p[2]);
      if (c[3] <= 1e-6) {
        behind++;
        continue;
      }
      n++;
      const x = ((c[0] / c[3]) * 0.5 + 0.5) * W,
        y = (0.5 - (c[1] / c[3]) * 0.5) * H;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
      if (c[3] < zmin) zmin = c[3];
      if (c[3] > zmax) zmax = c[3];
    }
    return n ? {box: qa([x0, y0, x1, y1]), behind, depth: qa([zmin, zmax])} : null;
  };
  const corners = b => {
    const r = [];
    for (const x of [b[0], b[3]]) for (const y of [b[1], b[4]]) for (const z of [b[2], b[5]]) r.push([x, y, z]);
    return r;
  };
  WS.math = {mul, tp, inv, q5, qa, decompose, ident, grow, newBox, boxOut, project, corners};
})();
