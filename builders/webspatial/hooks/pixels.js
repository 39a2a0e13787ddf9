// Pixels read back: PNG, and per-object counts, boxes and mean colours.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {qa} = WS.math;
  const enc = (w, h, fn) => {
    if (typeof document === "undefined" || typeof document.createElement !== "function") {
      const d = new Uint8ClampedArray(w * h * 4);
      fn(d);
      let t = "";
      for (let i = 0; i < d.length; i += 8190) t += btoa(String.fromCharCode.apply(null, d.subarray(i, i + 8190)));
      return `raw:${w}:${h}:${t}`;
    }
    const c = document.createElement("canvas");
    c.width = w;
    c.height = h;
    const x = c.getContext("2d", {willReadFrequently: true});
    const d = x.createImageData(w, h);
    fn(d.data);
    x.putImageData(d, 0, 0);
    return c.toDataURL("image/png");
  };
  WS.png = (px, opaque) =>
    enc(px.w, px.h, d => {
      for (let y = 0; y < px.h; y++) {
        const s = (px.h - 1 - y) * px.w * 4;
        d.set(px.b.subarray(s, s + px.w * 4), y * px.w * 4);
      }
      if (opaque) for (let i = 3; i < d.length; i += 4) d[i] = 255;
    });
  WS.stats = (idpx, colpx) => {
    const m = new Map();
    const {w, h, b} = idpx;
    const cb = colpx && colpx.w === w && colpx.h === h ? colpx.b : null;
    for (let y = 0; y < h; y++)
      for (let x = 0; x < w; x++) {
        const i = (y * w + x) * 4;
        if (b[i + 3] !== 255) continue;
        const id = b[i] + b[i + 1] * 256 + b[i + 2] * 65536;
        if (!id) continue;
        let s = m.get(id);
        if (!s) m.set(id, (s = {n: 0, x0: x, x1: x, y0: h, y1: 0, sx: 0, sy: 0, r: 0, g: 0, bl: 0}));
        const Y = h - 1 - y;
        s.n++;
        if (x < s.x0) s.x0 = x;
        if (x > s.x1) s.x1 = x;
        if (Y < s.y0) s.y0 = Y;
        if (Y > s.y1) s.y1 = Y;
        s.sx += x;
        s.sy += Y;
        if (cb) {
          s.r += cb[i];
          s.g += cb[i + 1];
          s.bl += cb[i + 2];
        }
      }
    const o = {};
    for (const [k, s] of m)
      o[k] = {
        pixels: s.n,
        box: [s.x0, s.y0, s.x1 + 1, s.y1 + 1],
        centroid: qa([s.sx / s.n, s.sy / s.n]),
        rgb: cb ? [s.r, s.g, s.bl].map(v => Math.round(v / s.n)) : null,
      };
    return o;
  };
})();
