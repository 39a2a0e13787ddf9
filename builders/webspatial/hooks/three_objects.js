// What three.js objects are made of: vertices, materials, geometry, cameras; and which render call is the view.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {mul, tp, inv, q5, qa, decompose, ident, grow, newBox, boxOut, project, corners} = WS.math;
  const {isScene, glOf} = T;
  const verts = (o, cap = 60000) => {
    const g = o.geometry;
    if (!g) return null;
    const out = [];
    if (g.vertices && Array.isArray(g.vertices)) {
      for (const v of g.vertices) out.push(v.x, v.y, v.z);
      return {p: out, n: g.vertices.length, legacy: true};
    }
    const at = g.attributes && g.attributes.position;
    if (!at) return null;
    let arr, stride, off, n;
    if (at.data && at.data.array) {
      arr = at.data.array;
      stride = at.data.stride;
      off = at.offset || 0;
      n = at.data.count !== undefined ? at.data.count : arr.length / stride;
    } else {
      arr = at.array;
      stride = at.itemSize || 3;
      off = 0;
      n = at.count !== undefined ? at.count : arr && arr.length / stride;
    }
    if (!arr || !n) return null;
    const size = at.itemSize || 3;
    const k = at.normalized
      ? arr instanceof Int8Array
        ? 1 / 127
        : arr instanceof Uint8Array
          ? 1 / 255
          : arr instanceof Int16Array
            ? 1 / 32767
            : arr instanceof Uint16Array
              ? 1 / 65535
              : 1
      : 1;
    const deform = o.isSkinnedMesh || (o.morphTargetInfluences && o.morphTargetInfluences.some(x => x));
    const step = Math.max(1, Math.ceil(n / (deform ? Math.min(cap, 6000) : cap)));
    const f = o.getVertexPosition ? "getVertexPosition" : o.isSkinnedMesh && o.boneTransform ? "boneTransform" : null;
    for (let i = 0; i < n; i += step) {
      if (deform && f) {
        try {
          const v = o.position.clone();
          o[f](i, v);
          out.push(v.x, v.y, v.z);
          continue;
        } catch (e) {}
      }
      const b = i * stride + off;
      out.push(arr[b] * k, arr[b + 1] * k, size > 2 ? arr[b + 2] * k : 0);
    }
    return {p: out, n, step, deform: !!deform};
  };
  const flags = [
    "isMesh",
    "isSkinnedMesh",
    "isInstancedMesh",
    "isBatchedMesh",
    "isPoints",
    "isLine",
    "isLineSegments",
    "isLineLoop",
    "isSprite",
    "isLOD",
    "isGroup",
    "isBone",
    "isLight",
    "isCamera",
    "isScene",
  ];
  const typeOf = o =>
    (typeof o.type === "string" && o.type) ||
    (o.isScene ? "Scene" : null) ||
    (o.constructor && o.constructor.name && o.constructor.name.length > 2 ? o.constructor.name : null) ||
    (o.geometry && o.material ? "Mesh" : "Object3D");
  const drawable = o =>
    !!(o.material && (o.geometry || /Sprite|Particle/.test(typeOf(o)))) && !/^(Scene)$/.test(o.type || "");
  const hex = c => {
    if (!c) return null;
    try {
      if (c.getHexString) return "#" + c.getHexString();
      if (c.getHex) return "#" + ("000000" + c.getHex().toString(16)).slice(-6);
    } catch (e) {}
    return typeof c.r === "number"
      ? "#" +
          [c.r, c.g, c.b]
            .map(v => ("0" + Math.round(Math.min(1, Math.max(0, v)) * 255).toString(16)).slice(-2))
            .join("")
      : null;
  };
  const tex = t => {
    if (!t) return null;
    const im = t.image || (t.source && t.source.data);
    return {
      name: t.name || "",
      src:
        im && (im.currentSrc || im.src)
          ? String(im.currentSrc || im.src).slice(0, 200)
          : im
            ? im.constructor && im.constructor.name
            : null,
      w: im && im.width,
      h: im && im.height,
    };
  };
  const mat = (m, dp = 0) => {
    if (!m || dp > 2) return null;
    if (Array.isArray(m)) return m.map(x => mat(x, dp + 1));
    if (m.materials) return m.materials.map(x => mat(x, dp + 1));
    const d = {
      type: m.type || (m.constructor && m.constructor.name),
      name: m.name || "",
      color: hex(m.color),
      emissive: hex(m.emissive),
      opacity: m.opacity,
      transparent: !!m.transparent,
      side: m.side,
      visible: m.visible !== false,
      wireframe: !!m.wireframe,
      vertexColors: !!m.vertexColors && m.vertexColors !== 0,
      flatShading: !!m.flatShading,
      metalness: m.metalness,
      roughness: m.roughness,
      depthTest: m.depthTest,
      depthWrite: m.depthWrite,
      blending: m.blending,
      alphaTest: m.alphaTest || 0,
      map: tex(m.map),
    };
    return d;
  };
  const params = g => {
    if (!g) return null;
    let p = g.parameters;
    const o = {};
    if (p)
      for (const k of Object.keys(p)) {
        const v = p[k];
        if (v === null || ["number", "boolean", "string"].includes(typeof v)) o[k] = typeof v === "number" ? q5(v) : v;
        else if (Array.isArray(v)) o[k] = `array(${v.length})`;
        else if (v && typeof v === "object") o[k] = v.type || (v.constructor && v.constructor.name) || "object";
      }
    else
      for (const k of ["radius", "width", "height", "depth", "radiusTop", "radiusBottom", "tube"])
        if (typeof g[k] === "number") o[k] = g[k];
    return o;
  };
  const instMats = (o, cap) => {
    const a = o.instanceMatrix && o.instanceMatrix.array;
    const n = Math.min(o.count || 0, cap);
    const r = [];
    if (!a) return r;
    for (let i = 0; i < n; i++) r.push(Array.from(a.slice(i * 16, i * 16 + 16)));
    return r;
  };
  const camOut = c => {
    const m = c.matrixWorld.elements;
    const d = decompose(m);
    return {
      type: c.type || (c.fov !== undefined ? "PerspectiveCamera" : "OrthographicCamera"),
      fov: c.fov,
      aspect: c.aspect,
      near: c.near,
      far: c.far,
      zoom: c.zoom,
      ortho:
        c.left !== undefined && c.fov === undefined
          ? {left: c.left, right: c.right, top: c.top, bottom: c.bottom}
          : null,
      position: d.position,
      quaternion: d.quaternion,
      right: qa([m[0], m[1], m[2]]),
      up: qa([m[4], m[5], m[6]]),
      forward: qa([-m[8], -m[9], -m[10]]),
      matrixWorld: qa(m),
      projectionMatrix: qa(c.projectionMatrix.elements),
    };
  };
  const quadCall = k => {
    const c = k.camera;
    if (c.fov !== undefined && c.fov !== null) return false;
    let n = 0;
    const walk = o => {
      if (drawable(o)) n++;
      for (const ch of o.children || []) walk(ch);
    };
    walk(k.scene);
    return n <= 1 && c.left === -1 && c.right === 1;
  };
  const countDraw = s => {
    let n = 0;
    const walk = o => {
      if (o.visible === false) return;
      if (drawable(o)) n++;
      for (const ch of o.children || []) walk(ch);
    };
    walk(s);
    return n;
  };
  T.views = () => {
    const cs = T.calls.filter(k => isScene(k.scene) && !quadCall(k));
    const direct = cs.filter(k => !k.target);
    const pool = direct.length ? direct : cs;
    const sc = pool.map(k => ({k, n: countDraw(k.scene), a: k.viewport ? k.viewport[2] * k.viewport[3] : 1e6}));
    sc.sort((p, q) => (q.n > 0) - (p.n > 0) || q.a - p.a || q.n - p.n);
    return {
      main: sc.length ? sc[0].k : null,
      replay: direct.length ? direct : sc.length ? [sc[0].k] : [],
      post: !direct.length && cs.length > 0,
      nCalls: T.calls.length,
    };
  };
  T.parts = {verts, flags, typeOf, drawable, hex, tex, mat, params, instMats, camOut, countDraw};
})();
