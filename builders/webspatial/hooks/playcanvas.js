// Graph and id pass of PlayCanvas.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {mul, tp, inv, q5, qa, decompose, ident, grow, newBox, boxOut, project, corners} = WS.math;
  const bhex = WS.bhex;
  const PRIMITIVES = {box: "BoxGeometry", sphere: "SphereGeometry", cylinder: "CylinderGeometry", cone: "ConeGeometry"};
  WS.pc.pick = () => {
    WS.globals();
    return [...WS.pc.apps][0] || null;
  };
  WS.pc.graph = () => {
    const a = WS.pc.pick();
    if (!a) return null;
    const nodes = [];
    let id = 1;
    WS.pc.ids = new Map();
    let cam = null;
    const cams = (a.systems && a.systems.camera && a.systems.camera.cameras) || [];
    cam = cams.filter(c => c.enabled && c.entity.enabled && !c.renderTarget)[0] || cams[0] || null;
    const W = a.graphicsDevice.width,
      H = a.graphicsDevice.height;
    let PV = null;
    if (cam) {
      const vm = Array.from(cam.viewMatrix.data),
        pm = Array.from(cam.projectionMatrix.data);
      PV = mul(pm, vm);
    }
    const visit = (o, parent, path) => {
      const me = nodes.length;
      const wm = Array.from(o.getWorldTransform().data);
      const n = {
        i: me,
        parent,
        path,
        type: o.constructor && o.constructor.name,
        name: o.name || "",
        visible: o.enabled,
        effectiveVisible: o.enabled,
        world: decompose(wm),
        matrixWorld: qa(wm),
        components: o.c ? Object.keys(o.c) : [],
      };
      const mis = (o.render && o.render.meshInstances) || (o.model && o.model.meshInstances) || [];
      if (mis.length) {
        n.drawable = true;
        n.id = id++;
        n.idCount = 1;
        const made = (o.render && o.render.type) || (o.model && o.model.type);
        n.type = "Mesh";
        n.geometry = {type: PRIMITIVES[made] || made, parameters: {}};
        const points = [];
        const b = newBox();
        n.material = mis.map(mi => {
          WS.pc.ids.set(mi, n);
          const at = [];
          try {
            if (!mi.skinInstance) mi.mesh.getPositions(at);
          } catch (e) {}
          points.push(...WS.worldPoints(Array.from(mi.node.getWorldTransform().data), at));
          const bb = mi.aabb;
          const c = bb.center,
            h = bb.halfExtents;
          grow(b, c.x - h.x, c.y - h.y, c.z - h.z);
          grow(b, c.x + h.x, c.y + h.y, c.z + h.z);
          const m = mi.material;
          return {
            type: m.constructor && m.constructor.name,
            name: m.name,
            color: bhex(m.diffuse),
            emissive: bhex(m.emissive),
            opacity: m.opacity,
            map: m.diffuseMap ? {name: m.diffuseMap.name} : null,
          };
        });
        if (n.material.length === 1) n.material = n.material[0];
        n.worldBox = boxOut(b);
        if (PV) {
          const r = [];
          for (const x of [b[0], b[3]]) for (const y of [b[1], b[4]]) for (const z of [b[2], b[5]]) r.push([x, y, z]);
          if (points.length) {
            const tight = newBox();
            for (const p of points) grow(tight, p[0], p[1], p[2]);
            n.worldBox = boxOut(tight);
          }
          n.screen = project(PV, W, H, points.length ? points : r);
        }
      }
      if (o.light) n.light = {type: o.light.type, color: bhex(o.light.color), intensity: o.light.intensity};
      nodes.push(n);
      (o.children || []).forEach((c, k) => visit(c, me, path + "/" + (c.name || "node") + "#" + k));
    };
    visit(a.root, -1, "root");
    const cw = cam ? Array.from(cam.entity.getWorldTransform().data) : ident;
    return {
      engine: "PlayCanvas",
      revision: (WS.pc.meta && WS.pc.meta.version) || (G.pc && G.pc.version) || null,
      handed: "right",
      up: [0, 1, 0],
      canvas: {w: W, h: H},
      camera: cam
        ? {
            fov: cam.fov,
            near: cam.nearClip,
            far: cam.farClip,
            position: qa(cw.slice(12, 15)),
            right: qa(cw.slice(0, 3)),
            up: qa(cw.slice(4, 7)),
            forward: qa([-cw[8], -cw[9], -cw[10]]),
          }
        : null,
      nodes,
    };
  };
  WS.pc.pass = (only = 0) => {
    const a = WS.pc.pick();
    const gl = a && a.graphicsDevice.gl;
    if (!gl) return null;
    const dev = a.graphicsDevice;
    const R = a.renderer;
    const hooks = [];
    // every forward draw goes through mesh instance -> device.draw(primitive, ...); track it by wrapping renderer.drawInstance / setMeshInstanceMatrices
    const names = [
      "drawInstance",
      "setMeshInstanceMatrices",
      "setupMeshUniformBuffers",
      "setSkinning",
      "setBaseConstants",
    ];
    for (const nm of names) {
      if (typeof R[nm] !== "function") continue;
      const f = R[nm];
      R[nm] = function (...x) {
        const mi = x.find(y => y && WS.pc.ids.has(y));
        if (mi) L.id = WS.pc.ids.get(mi).id;
        else if (nm === "setMeshInstanceMatrices") L.id = 0;
        return f.apply(this, x);
      };
      hooks.push(() => {
        delete R[nm];
      });
    }
    for (let o = R; o && o !== Object.prototype; o = Object.getPrototypeOf(o))
      for (const nm of Object.getOwnPropertyNames(o))
        if (/^renderForward/.test(nm) && typeof R[nm] === "function" && !Object.prototype.hasOwnProperty.call(R, nm)) {
          const f = R[nm];
          R[nm] = function (...x) {
            try {
              return f.apply(this, x);
            } finally {
              L.id = 0;
            }
          };
          hooks.push(() => {
            delete R[nm];
          });
        }
    L.mode = 1;
    L.only = only;
    L.id = 0;
    L.draws = 0;
    const fb0 = gl.getParameter(gl.FRAMEBUFFER_BINDING);
    try {
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      const bfb = (() => {
        try {
          return dev.backBuffer.impl._glFrameBuffer;
        } catch (e) {
          return null;
        }
      })();
      const obf = gl.bindFramebuffer;
      gl.bindFramebuffer = (t, f) => obf.call(gl, t, f && (f === bfb || f === fb0) ? null : f);
      const oc = gl.clearColor,
        ob = gl.blitFramebuffer;
      gl.clearColor = function () {
        return oc.call(gl, 0, 0, 0, 0);
      };
      gl.blitFramebuffer = () => {};
      oc.call(gl, 0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      a.render();
      delete gl.clearColor;
      delete gl.blitFramebuffer;
      delete gl.bindFramebuffer;
      dev.clearColor && dev.clearColor.set && dev.clearColor.set(-1, -1, -1, -1);
    } catch (e) {
      WS.errors.push("pcpass " + e);
    } finally {
      L.mode = 0;
      hooks.forEach(f => f());
    }
    let px = L.read(gl);
    px.draws = L.draws;
    gl.bindFramebuffer(gl.FRAMEBUFFER, fb0);
    if (!L.draws && !WS.pc.any) {
      WS.pc.any = 1;
      L.anyFB = true;
      L.fbs = new Map();
      try {
        WS.pc.pass(only);
        for (const [f, e] of [...L.fbs]) if (e.vp[2] !== gl.drawingBufferWidth) L.fbs.delete(f);
        const q = L.readAny(gl);
        if (q && q.b) {
          px = q;
          px.draws = L.draws;
          px.offscreen = true;
        } else if (q) WS.errors.push("id pass off-screen: " + q.why);
      } finally {
        L.anyFB = false;
        WS.pc.any = 0;
      }
    }
    return px;
  };
})();
