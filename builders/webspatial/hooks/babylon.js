// Graph and id pass of Babylon.js. Its worlds are left-handed by default; the driver is told.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {mul, tp, inv, q5, qa, decompose, ident, grow, newBox, boxOut, project, corners} = WS.math;
  const bhex = c =>
    c
      ? "#" +
        [c.r, c.g, c.b].map(v => ("0" + Math.round(Math.min(1, Math.max(0, v)) * 255).toString(16)).slice(-2)).join("")
      : null;
  WS.bhex = bhex;
  // A mesh's vertices (every n-th of very many) in world coordinates: a box's corners would be too wide a frame.
  const worldPoints = (WS.worldPoints = (m, at) => {
    const step = 3 * Math.max(1, Math.ceil(at.length / 180000));
    const out = [];
    for (let i = 0; i + 2 < at.length; i += step) out.push(tp(m, at[i], at[i + 1], at[i + 2]).slice(0, 3));
    return out;
  });
  WS.babylon.pick = () => {
    WS.globals();
    const ss = [...WS.babylon.scenes].filter(s => s && s.meshes && s.getEngine && !s.isDisposed);
    return ss.sort((a, b) => b.meshes.length - a.meshes.length)[0] || null;
  };
  WS.babylon.graph = () => {
    const s = WS.babylon.pick();
    if (!s) return null;
    const cam = s.activeCamera || (s.activeCameras && s.activeCameras[0]);
    const eng = s.getEngine();
    const W = eng.getRenderWidth(),
      H = eng.getRenderHeight();
    const PV = s.getTransformMatrix().m || s.getTransformMatrix().toArray();
    const nodes = [];
    let id = 1;
    const all = new Map();
    const B = WS.babylon;
    B.ids = new Map();
    const list = [...(s.rootNodes || [])];
    const seen = new Set();
    const visit = (o, parent, path) => {
      if (seen.has(o)) return;
      seen.add(o);
      const me = nodes.length;
      const cls = o.getClassName ? o.getClassName() : o.constructor.name;
      const wm = o.getWorldMatrix ? Array.from(o.getWorldMatrix().m || o.getWorldMatrix().toArray()) : ident;
      const n = {
        i: me,
        parent,
        path,
        type: cls,
        name: o.name || "",
        id_: o.id,
        visible: o.isVisible !== false && (o.isEnabled ? o.isEnabled() : true),
        effectiveVisible: o.isVisible !== false && (o.isEnabled ? o.isEnabled() : true) && !(o.visibility === 0),
        world: decompose(wm),
        matrixWorld: qa(wm),
      };
      if (o.geometry !== undefined || o.subMeshes || o.sourceMesh) {
        const nv = o.getTotalVertices ? o.getTotalVertices() : 0;
        if (nv) {
          n.drawable = true;
          n.id = id++;
          n.idCount = 1;
          B.ids.set(o, n);
          const m = o.material;
          n.material = m
            ? {
                type: m.getClassName ? m.getClassName() : m.constructor.name,
                name: m.name,
                color: bhex(m.diffuseColor || m.albedoColor || m.baseColor || m.primaryColor),
                emissive: bhex(m.emissiveColor),
                opacity: (m.alpha === undefined ? 1 : m.alpha) * (o.visibility === undefined ? 1 : o.visibility),
                transparent: !!(m.needAlphaBlending && m.needAlphaBlending()),
                map: m.diffuseTexture || m.albedoTexture ? {name: (m.diffuseTexture || m.albedoTexture).name} : null,
                wireframe: !!m.wireframe,
              }
            : null;
          n.geometry = {
            type: (o.metadata && o.metadata.type) || cls,
            parameters: o._creationDataStorage ? Object.keys(o._creationDataStorage) : null,
            vertices: nv,
          };
          try {
            const bi = o.getBoundingInfo();
            n.localBox = {
              min: qa([bi.boundingBox.minimum.x, bi.boundingBox.minimum.y, bi.boundingBox.minimum.z]),
              max: qa([bi.boundingBox.maximum.x, bi.boundingBox.maximum.y, bi.boundingBox.maximum.z]),
            };
            n.worldBox = {
              min: qa([bi.boundingBox.minimumWorld.x, bi.boundingBox.minimumWorld.y, bi.boundingBox.minimumWorld.z]),
              max: qa([bi.boundingBox.maximumWorld.x, bi.boundingBox.maximumWorld.y, bi.boundingBox.maximumWorld.z]),
            };
            const at = o.skeleton || !o.getVerticesData ? null : o.getVerticesData("position");
            const points = at ? worldPoints(wm, at) : bi.boundingBox.vectorsWorld.map(v => [v.x, v.y, v.z]);
            const wb = newBox();
            for (const p of points) grow(wb, p[0], p[1], p[2]);
            if (at) n.worldBox = boxOut(wb);
            n.screen = project(PV, W, H, points);
          } catch (e) {}
          n.instanceOf = o.sourceMesh ? o.sourceMesh.name : undefined;
          n.thinInstances = o.thinInstanceCount || undefined;
        }
      }
      if (/Light/.test(cls)) n.light = {color: bhex(o.diffuse), intensity: o.intensity};
      nodes.push(n);
      let k = 0;
      const ch = o.getChildren ? o.getChildren() : [];
      for (const c of ch) visit(c, me, path + "/" + (c.name || "node") + "#" + k++);
    };
    list.forEach((o, i) => visit(o, -1, "scene0/" + (o.name || "node") + "#" + i));
    if (!list.length)
      (s.meshes || []).forEach((o, i) => {
        if (!o.parent) visit(o, -1, "scene0/" + o.name + "#" + i);
      });
    const vm = cam ? Array.from(cam.getViewMatrix().m || cam.getViewMatrix().toArray()) : ident;
    const cw = inv(vm) || ident;
    return {
      engine: "Babylon.js",
      revision: (eng.constructor && eng.constructor.Version) || WS.babylon.version || null,
      handed: s.useRightHandedSystem ? "right" : "left",
      up: [0, 1, 0],
      canvas: {w: W, h: H},
      camera: cam
        ? {
            type: cam.getClassName ? cam.getClassName() : "",
            name: cam.name,
            fov: cam.fov,
            near: cam.minZ,
            far: cam.maxZ,
            position: qa([cw[12], cw[13], cw[14]]),
            right: qa(cw.slice(0, 3)),
            up: qa(cw.slice(4, 7)),
            forward: qa(s.useRightHandedSystem ? [-cw[8], -cw[9], -cw[10]] : cw.slice(8, 11)),
            viewMatrix: qa(vm),
            projectionMatrix: qa(cam.getProjectionMatrix().m || cam.getProjectionMatrix().toArray()),
          }
        : null,
      postProcesses: (s.postProcesses || []).length,
      nodes,
    };
  };
  WS.babylon.pass = (only = 0) => {
    const s = WS.babylon.pick();
    if (!s) return null;
    const eng = s.getEngine();
    const gl = eng._gl;
    if (!gl) return null;
    const hooks = [];
    const batches = [];
    for (const [m, n] of WS.babylon.ids) {
      if (m.sourceMesh) continue;
      if (m.instances && m.instances.length && m.onBeforeRenderObservable) {
        const base = 8000000 + batches.length * 20000;
        const rec = {base, order: null, m};
        batches.push(rec);
        const f = () => {
          L.id = base;
          L.instanced = 1;
          try {
            const bt = m._getInstancesRenderList(m.subMeshes[0]._id);
            const vi = (bt.visibleInstances && bt.visibleInstances[m.subMeshes[0]._id]) || [];
            rec.order = (bt.renderSelf && bt.renderSelf[m.subMeshes[0]._id] ? [m] : []).concat(vi);
          } catch (e) {
            WS.errors.push("binst " + e);
          }
        };
        const h0 = m.onBeforeRenderObservable.add(f);
        hooks.push(() => m.onBeforeRenderObservable.remove(h0));
        const ha = m.onAfterRenderObservable.add(() => {
          L.instanced = 0;
          L.id = 0;
        });
        hooks.push(() => m.onAfterRenderObservable.remove(ha));
        continue;
      }
      const src = m.sourceMesh || m;
      const ob = src.onBeforeDrawObservable || m.onBeforeDrawObservable;
      if (ob) {
        const h = ob.add(() => {
          L.id = n.id;
        });
        hooks.push(() => ob.remove(h));
      }
      const ra = m.onAfterRenderObservable;
      if (ra) {
        const h3 = ra.add(() => {
          L.id = 0;
        });
        hooks.push(() => ra.remove(h3));
      }
      const rb = m.onBeforeRenderObservable;
      if (rb) {
        const h2 = rb.add(() => {
          L.id = n.id;
        });
        hooks.push(() => rb.remove(h2));
      }
    }
    const cc = s.clearColor && s.clearColor.clone();
    const ac = s.autoClear;
    const pp = s.postProcessesEnabled;
    L.mode = 1;
    L.only = 0;
    L.id = 0;
    L.draws = 0;
    const camPP = [];
    const soloMesh = only ? [...WS.babylon.ids.entries()].find(e => e[1].id === only) : null;
    const hidden = [];
    if (soloMesh)
      for (const [m] of WS.babylon.ids)
        if (m !== soloMesh[0]) {
          hidden.push([m, m.isVisible]);
          m.isVisible = false;
        }
    hooks.push(() =>
      hidden.forEach(h => {
        h[0].isVisible = h[1];
      }),
    );
    try {
      if (s.clearColor) {
        s.clearColor.r = s.clearColor.g = s.clearColor.b = 0;
        s.clearColor.a = 0;
      }
      s.autoClear = true;
      s.postProcessesEnabled = false;
      s.render(false);
    } catch (e) {
      WS.errors.push("bpass " + e);
    } finally {
      L.mode = 0;
      hooks.forEach(f => f());
      if (cc) {
        s.clearColor.copyFrom ? s.clearColor.copyFrom(cc) : (s.clearColor = cc);
      }
      s.autoClear = ac;
      s.postProcessesEnabled = pp;
    }
    let px = L.read(gl);
    px.draws = L.draws;
    if (!L.draws && !WS.babylon.any) {
      WS.babylon.any = 1;
      L.anyFB = true;
      L.fbs = new Map();
      let q = null;
      try {
        q = WS.babylon.pass(only);
        q = L.readAny(gl) || q;
      } finally {
        L.anyFB = false;
        WS.babylon.any = 0;
      }
      if (q && q.b) {
        px = q;
        px.draws = L.draws;
        px.offscreen = true;
      } else if (q && q.why) WS.errors.push("id pass off-screen: " + q.why);
    }
    if (WS.babylon.any) WS.babylon.lastBatches = batches;
    const bts = px.offscreen ? WS.babylon.lastBatches || [] : batches;
    if (bts.length) {
      const map = new Map();
      for (const r of bts)
        (r.order || []).forEach((o, k) => {
          const n = WS.babylon.ids.get(o);
          if (n) map.set(r.base + k, n.id);
        });
      for (let i = 0; i < px.b.length; i += 4) {
        const v = px.b[i] + px.b[i + 1] * 256 + px.b[i + 2] * 65536;
        if (v >= 8000000) {
          const w = map.get(v) || 0;
          px.b[i] = w & 255;
          px.b[i + 1] = (w >> 8) & 255;
          px.b[i + 2] = w >> 16;
        }
      }
    }
    return px;
  };
})();
