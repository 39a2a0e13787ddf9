// Finds scenes, cameras and renderers without touching the page: three.js, Babylon.js, PlayCanvas.
// Three independent ways: the engines' own inspector doors, property traps that constructors spring, and globals.
(() => {
  const G = globalThis;
  const L = G.__WSGL;
  const WS = (G.__WS = {
    three: {scenes: new Set(), renderers: new Set(), via: {}, calls: [], depth: 0, revision: null},
    babylon: {scenes: new Set(), via: {}},
    pc: {apps: new Set(), via: {}},
    errors: [],
    events: [],
    frame: () => (G.__WST ? G.__WST.frame : WS._f),
    _f: 0,
  });
  if (!G.__WST && G.requestAnimationFrame) {
    const r = G.requestAnimationFrame;
    G.requestAnimationFrame = cb =>
      r.call(G, t => {
        WS._f++;
        cb(t);
      });
  }
  const T = WS.three;
  const note = (o, k) => {
    o.via[k] = (o.via[k] || 0) + 1;
  };
  // ---------- discovery ----------
  const isScene = o =>
    !!o && typeof o === "object" && Array.isArray(o.children) && typeof o.add === "function" && "matrixWorld" in o;
  const addScene = (o, how) => {
    note(T, how);
    T.scenes.add(o);
  };
  const drawTargets = (r, args) => {
    try {
      return args[2] &&
        typeof args[2] === "object" &&
        ("texture" in args[2] || args[2].isRenderTarget || args[2].isWebGLRenderTarget)
        ? args[2]
        : r.getRenderTarget
          ? r.getRenderTarget()
          : r.getCurrentRenderTarget
            ? r.getCurrentRenderTarget()
            : null;
    } catch (e) {
      return null;
    }
  };
  const glOf = r => {
    try {
      const c = r.getContext ? r.getContext() : r.context || null;
      if (c && c.readPixels) return c;
    } catch (e) {}
    try {
      if (r.backend && r.backend.gl) return r.backend.gl;
    } catch (e) {}
    const e = L.contexts.find(x => x.canvas === r.domElement);
    return e ? e.gl : null;
  };
  T.glOf = glOf;
  T.isScene = isScene;
  const wrapRender = (r, f) =>
    function (...args) {
      const self = this;
      if (T.depth > 0 || L.mode || T.replaying) return f.apply(self, args);
      const scene = args[0],
        camera = args[1];
      T.depth++;
      let out;
      try {
        out = f.apply(self, args);
      } finally {
        T.depth--;
      }
      try {
        if (scene && camera && camera.projectionMatrix) {
          const gl = glOf(r);
          const fr = WS.frame();
          if (T.calls.length && T.calls[T.calls.length - 1].frame !== fr) T.calls = [];
          if (T.calls.length < 200)
            T.calls.push({
              renderer: r,
              scene,
              camera,
              target: drawTargets(r, args),
              viewport: gl && !r.isWebGPURenderer ? Array.from(gl.getParameter(gl.VIEWPORT)) : null,
              scissor: gl && gl.isEnabled(gl.SCISSOR_TEST) ? Array.from(gl.getParameter(gl.SCISSOR_BOX)) : null,
              frame: fr,
            });
          T.totalCalls = (T.totalCalls || 0) + 1;
        }
      } catch (e) {
        WS.errors.push("record " + e);
      }
      return out;
    };
  const hookRenderer = (r, how) => {
    note(T, how);
    if (T.renderers.has(r)) return;
    T.renderers.add(r);
    for (const name of ["render", "renderAsync"]) {
      try {
        let orig = Object.prototype.hasOwnProperty.call(r, name) ? r[name] : null;
        let wrapped = orig ? wrapRender(r, orig) : null;
        if (name === "renderAsync" && !orig && typeof r[name] !== "function") continue;
        Object.defineProperty(r, name, {
          configurable: true,
          enumerable: true,
          get() {
            if (wrapped) return wrapped;
            const p = Object.getPrototypeOf(r)[name];
            return p ? (wrapped = wrapRender(r, p)) : undefined;
          },
          set(f) {
            orig = f;
            wrapped = wrapRender(r, f);
          },
        });
      } catch (e) {
        WS.errors.push("hookRenderer " + e);
      }
    }
  };
  // (a) the documented hook: three dispatches 'observe' for Scene and renderer when this global exists (r106+), 'register' r109+
  try {
    const ev = new EventTarget();
    ev.addEventListener("observe", e => {
      const o = e.detail;
      if (!o) return;
      if (isScene(o)) addScene(o, "devtools-scene");
      else if (typeof o.render === "function" || "autoClear" in o) hookRenderer(o, "devtools-renderer");
      else note(T, "devtools-other");
    });
    ev.addEventListener("register", e => {
      T.revision = e.detail && e.detail.revision;
      note(T, "devtools-register");
    });
    if (!G.__THREE_DEVTOOLS__) G.__THREE_DEVTOOLS__ = ev;
  } catch (e) {
    WS.errors.push("devtools " + e);
  }
  // (b) property traps: these names are assigned with plain [[Set]] in the constructors of every release tried (r5x-r187), and minifiers keep them
  const trap = (prop, fn) => {
    Object.defineProperty(Object.prototype, prop, {
      configurable: true,
      enumerable: false,
      get() {
        return undefined;
      },
      set(v) {
        Object.defineProperty(this, prop, {value: v, writable: true, enumerable: true, configurable: true});
        try {
          fn(this, v);
        } catch (e) {
          WS.errors.push("trap " + prop + " " + e);
        }
      },
    });
  };
  trap("overrideMaterial", o => {
    if (isScene(o)) addScene(o, "trap-scene");
  });
  trap("autoClearStencil", o => {
    if ("autoClear" in o || "domElement" in o) hookRenderer(o, "trap-renderer");
  });
  trap("_blockEntityCollection", o => {
    WS.babylon.scenes.add(o);
    note(WS.babylon, "trap");
  });
  trap("dispatchAllSubMeshesOfActiveMeshes", o => {
    WS.babylon.scenes.add(o);
    note(WS.babylon, "trap-old");
  });
  trap("_scriptPrefix", o => {
    if (o && o.root) {
      WS.pc.apps.add(o);
      note(WS.pc, "trap");
    }
  });
  // (c) PlayCanvas' own inspector hook (2.x late)
  try {
    G[Symbol.for("playcanvas.inspector")] = {
      register(app, meta) {
        WS.pc.apps.add(app);
        WS.pc.meta = meta;
        note(WS.pc, "inspector-hook");
      },
      unregister(app) {
        WS.pc.apps.delete(app);
      },
    };
  } catch (e) {}
  WS.globals = () => {
    try {
      const B = G.BABYLON;
      if (B) {
        const ins = (B.EngineStore && B.EngineStore.Instances) || (B.Engine && B.Engine.Instances) || [];
        for (const e of ins)
          for (const s of e.scenes || []) {
            if (!WS.babylon.scenes.has(s)) {
              WS.babylon.scenes.add(s);
              note(WS.babylon, "global");
            }
          }
        WS.babylon.version = B.Engine && B.Engine.Version;
      }
    } catch (e) {}
    try {
      const P = G.pc;
      if (P) {
        const a = P.app || (P.AppBase && P.AppBase.getApplication && P.AppBase.getApplication());
        if (a && !WS.pc.apps.has(a)) {
          WS.pc.apps.add(a);
          note(WS.pc, "global");
        }
      }
    } catch (e) {}
    try {
      if (!T.revision) T.revision = G.__THREE__ || (G.THREE && G.THREE.REVISION) || null;
    } catch (e) {}
  };
  WS.status = () => {
    WS.globals();
    return {
      three: {
        revision: T.revision,
        scenes: T.scenes.size,
        renderers: T.renderers.size,
        via: T.via,
        lastCalls: T.calls.length,
        totalCalls: T.totalCalls || 0,
        renderers_kind: [...T.renderers].map(r =>
          r.isWebGPURenderer
            ? "WebGPURenderer"
            : r.isWebGLRenderer
              ? "WebGLRenderer"
              : r.constructor && r.constructor.name,
        ),
      },
      babylon: {scenes: WS.babylon.scenes.size, via: WS.babylon.via, version: WS.babylon.version},
      pc: {apps: WS.pc.apps.size, via: WS.pc.via, meta: WS.pc.meta},
      gl: L.contexts.map(c => ({
        type: c.type,
        offscreen: c.offscreen,
        w: c.gl.drawingBufferWidth,
        h: c.gl.drawingBufferHeight,
      })),
      shaders: L.stats,
      totalDraws: L.total,
      errors: WS.errors.slice(0, 10),
    };
  };
})();
