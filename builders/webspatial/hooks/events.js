// What the page was told and what changed: input events with the object hit, and the state of every frame.
(() => {
  const G = globalThis,
    WS = G.__WS,
    T = WS.three;
  const {mul, tp, inv, qa, decompose, ident} = WS.math;
  const {verts, typeOf, drawable, hex} = T.parts;
  // The object under a point of the page, by its id's pixel; for three.js also where the ray meets the mesh.
  const rayOf = (camera, w, h, x, y) => {
    const IV = inv(camera.projectionMatrix.elements);
    const MW = camera.matrixWorld.elements;
    const unproject = z => {
      const p = tp(IV, (x / w) * 2 - 1, 1 - (y / h) * 2, z);
      return tp(MW, p[0] / p[3], p[1] / p[3], p[2] / p[3]).slice(0, 3);
    };
    const near = unproject(-1);
    const d = unproject(1).map((v, k) => v - near[k]);
    const l = Math.hypot(...d);
    return {origin: qa(near), dir: qa(d.map(v => v / l))};
  };
  WS.pickAt = (cx, cy) => {
    try {
      const E = WS.engine();
      if (!E || !E.canvas()) return null;
      const b = E.canvas().getBoundingClientRect();
      const g = E.graph();
      const px = E.pass(0);
      E.repaint();
      if (!px) return null;
      const x = Math.floor(((cx - b.left) / b.width) * px.w),
        y = Math.floor(((cy - b.top) / b.height) * px.h);
      if (x < 0 || y < 0 || x >= px.w || y >= px.h) return null;
      const i = ((px.h - 1 - y) * px.w + x) * 4;
      const id = px.b[i] + px.b[i + 1] * 256 + px.b[i + 2] * 65536;
      const ray = E.three ? rayOf(T.views().main.camera, px.w, px.h, x, y) : undefined;
      const n = id ? g.nodes.find(k => k.drawable && id >= k.id && id < k.id + k.idCount) : null;
      if (!n) return {id, ray};
      const instance = n.idCount > 1 ? id - n.id : undefined;
      const hit = {id, path: n.path, name: n.name, type: n.type, instance, ray};
      if (E.three)
        for (const [o, k] of T.byObj)
          if (k.path === n.path) hit.point = rayHit(o, ray, instance === undefined ? -1 : instance);
      return hit;
    } catch (e) {
      WS.errors.push("pickAt " + e);
      return null;
    }
  };
  const rayHit = (o, ray, inst) => {
    const g = o.geometry;
    if (!g || !g.attributes || !g.attributes.position) return null;
    let mw = o.matrixWorld.elements;
    if (inst >= 0) mw = mul(mw, Array.from(o.instanceMatrix.array.slice(inst * 16, inst * 16 + 16)));
    const vs = verts(o, 1e9);
    if (!vs || vs.step > 1) return null;
    const P = [];
    for (let i = 0; i < vs.p.length; i += 3) P.push(tp(mw, vs.p[i], vs.p[i + 1], vs.p[i + 2]));
    const ix = g.index ? g.index.array : null;
    const n = ix ? ix.length : P.length;
    let best = Infinity;
    const O = ray.origin,
      D = ray.dir;
    for (let k = 0; k + 2 < n; k += 3) {
      const A = P[ix ? ix[k] : k],
        B = P[ix ? ix[k + 1] : k + 1],
        C = P[ix ? ix[k + 2] : k + 2];
      if (!A || !B || !C) continue;
      const e1 = [B[0] - A[0], B[1] - A[1], B[2] - A[2]],
        e2 = [C[0] - A[0], C[1] - A[1], C[2] - A[2]];
      const h = [D[1] * e2[2] - D[2] * e2[1], D[2] * e2[0] - D[0] * e2[2], D[0] * e2[1] - D[1] * e2[0]];
      const det = e1[0] * h[0] + e1[1] * h[1] + e1[2] * h[2];
      if (Math.abs(det) < 1e-12) continue;
      const f = 1 / det,
        s = [O[0] - A[0], O[1] - A[1], O[2] - A[2]];
      const u = f * (s[0] * h[0] + s[1] * h[1] + s[2] * h[2]);
      if (u < -1e-6 || u > 1 + 1e-6) continue;
      const q = [s[1] * e1[2] - s[2] * e1[1], s[2] * e1[0] - s[0] * e1[2], s[0] * e1[1] - s[1] * e1[0]];
      const v = f * (D[0] * q[0] + D[1] * q[1] + D[2] * q[2]);
      if (v < -1e-6 || u + v > 1 + 1e-6) continue;
      const t = f * (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]);
      if (t > 1e-6 && t < best) best = t;
    }
    return best < Infinity ? qa(O.map((x, i) => x + D[i] * best)) : null;
  };
  WS.logEvents = () => {
    for (const t of [
      "pointerdown",
      "pointerup",
      "click",
      "dblclick",
      "wheel",
      "keydown",
      "keyup",
      "pointermove",
      "change",
      "input",
    ])
      G.addEventListener(
        t,
        e => {
          const r = {t: performance.now(), frame: WS.frame(), type: t};
          if ("clientX" in e) {
            r.x = e.clientX;
            r.y = e.clientY;
            r.button = e.button;
            r.buttons = e.buttons;
            r.target = e.target && e.target.tagName;
            if (e.target && e.target.tagName === "CANVAS" && (t !== "pointermove" || WS.logMoves))
              r.hit = WS.pickAt(e.clientX, e.clientY);
          }
          if (t === "wheel") r.deltaY = e.deltaY;
          if ("key" in e) {
            r.key = e.key;
            r.code = e.code;
          }
          if (t === "change" || t === "input") {
            r.target = e.target.tagName + (e.target.name ? "." + e.target.name : "");
            r.value = e.target.type === "checkbox" ? e.target.checked : e.target.value;
          }
          WS.events.push(r);
        },
        {capture: true, passive: true},
      );
  };
  // The state of every object, its transform relative to its parent, so that a group's move is not its children's.
  const threeRows = root => {
    const rows = {};
    let left = 2500;
    const put = (o, path, parent) => {
      if (left-- <= 0) return;
      const world = o.matrixWorld ? Array.from(o.matrixWorld.elements) : ident;
      const up = parent && parent.matrixWorld ? inv(parent.matrixWorld.elements) : null;
      const m = decompose(up ? mul(up, world) : world);
      const ma = Array.isArray(o.material) ? o.material[0] : o.material;
      rows[path] = {
        v: o.visible !== false,
        p: m.position,
        q: m.quaternion,
        s: m.scale,
        w: qa(world.slice(12, 15)),
        c: ma ? hex(ma.color) : null,
        e: ma ? hex(ma.emissive) : null,
        o: ma && ma.opacity !== undefined ? ma.opacity : null,
        d: drawable(o),
      };
      (o.children || []).forEach((c, k) =>
        put(c, path + "/" + (c.name ? String(c.name).replace(/\//g, "_") : typeOf(c)) + "#" + k, o),
      );
    };
    put(root, "scene0", null);
    return rows;
  };
  const graphRows = g => {
    const rows = {};
    for (const n of g.nodes.slice(0, 2500)) {
      const up = n.parent >= 0 ? inv(g.nodes[n.parent].matrixWorld) : null;
      const m = decompose(up ? mul(up, n.matrixWorld) : n.matrixWorld);
      const ma = Array.isArray(n.material) ? n.material[0] : n.material;
      rows[n.path] = {
        v: n.effectiveVisible,
        p: m.position,
        q: m.quaternion,
        s: m.scale,
        w: n.world.position,
        c: (ma && ma.color) || null,
        e: (ma && ma.emissive) || null,
        o: ma && ma.opacity !== undefined ? ma.opacity : null,
        d: !!n.drawable,
      };
    }
    return rows;
  };
  WS.snap = () => {
    const E = WS.engine();
    if (!E) return null;
    return {frame: WS.frame(), rows: E.three ? threeRows(T.views().main.scene) : graphRows(E.graph())};
  };
})();
