// The id pass of three.js: the last frame's render calls again, each object in its id.
// Replays only what went to the screen; helpers that draw no colour get no id, as nobody sees them.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {glOf} = T;
  T.pass = (only = 0, opt = {}) => {
    const v = T.views();
    if (!v.main) return null;
    const r = v.main.renderer;
    const gl = glOf(r);
    if (!gl) return null;
    const byObj = T.byObj;
    const setId = o => {
      const n = byObj.get(o);
      if (!n) {
        L.id = 0;
        return;
      }
      const m0 = Array.isArray(o.material) ? null : o.material;
      if (m0 && (m0.colorWrite === false || (m0.transparent && m0.opacity < 0.05))) {
        L.id = 0;
        return;
      }
      if (opt.opaqueOnly) {
        const m = Array.isArray(n.material) ? n.material[0] : n.material;
        if (m && m.transparent && (m.opacity === undefined || m.opacity < 0.95 || m.depthWrite === false)) {
          L.id = 0;
          return;
        }
      }
      L.id = n.id;
      L.instanced = o.isInstancedMesh ? 1 : 0;
    };
    const saved = [];
    // What would draw nothing is not even set up: of a scene of n objects, one drawn alone costs one, not n.
    const drawsNothing = o =>
      o && gl.getParameter(gl.FRAMEBUFFER_BINDING) === null && (!L.id || (only && L.id !== only));
    const wrapM = (name, pick, draws) => {
      if (typeof r[name] !== "function") return;
      const own = Object.prototype.hasOwnProperty.call(r, name);
      const f = r[name];
      r[name] = function (...a) {
        const o = pick(a);
        const p = [L.id, L.instanced];
        if (o) setId(o);
        try {
          return draws && drawsNothing(o) ? undefined : f.apply(this, a);
        } finally {
          L.id = p[0];
          L.instanced = p[1];
        }
      };
      saved.push(() => {
        if (own) r[name] = f;
        else delete r[name];
      });
    };
    const findObj = a => a.find(x => x && typeof x === "object" && x.matrixWorld && (x.material || x.geometry));
    wrapM("renderBufferDirect", findObj, true);
    wrapM("renderBuffer", findObj, true);
    wrapM("renderBufferImmediate", findObj);
    wrapM("renderImmediateObject", findObj);
    wrapM("renderObject", findObj);
    const put = (target, k, val) => {
      try {
        if (!(k in target)) return;
        const kept = target[k];
        target[k] = val;
        saved.push(() => (target[k] = kept));
      } catch (e) {}
    };
    if (r.isWebGPURenderer) {
      put(r, "toneMapping", 0);
      put(r, "outputColorSpace", "srgb-linear");
    }
    // Shadow maps stay as the last frame left them.
    put(r, "shadowMapAutoUpdate", false);
    if (r.shadowMap) {
      put(r.shadowMap, "autoUpdate", false);
      put(r.shadowMap, "needsUpdate", false);
    }
    const scs = v.replay.map(k => k.scene);
    const bgs = scs.map(s => [s, s.background, s.fog]);
    L.mode = 1;
    L.only = only;
    L.id = 0;
    T.replaying = true;
    L.draws = 0;
    const cc = Array.from(gl.getParameter(gl.COLOR_CLEAR_VALUE));
    let tgt = null;
    const oc = gl.clearColor;
    gl.clearColor = function () {
      return oc.call(gl, 0, 0, 0, 0);
    };
    try {
      for (const [s] of bgs) {
        try {
          s.background = null;
        } catch (e) {}
      }
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      const ss = gl.isEnabled(gl.SCISSOR_TEST);
      gl.disable(gl.SCISSOR_TEST);
      oc.call(gl, 0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
      if (ss) gl.enable(gl.SCISSOR_TEST);
      try {
        tgt = r.getRenderTarget ? r.getRenderTarget() : null;
        if (r.setRenderTarget && tgt) r.setRenderTarget(null);
      } catch (e) {}
      for (const k of v.replay) {
        const pr = r.getPixelRatio ? r.getPixelRatio() : r.devicePixelRatio || 1;
        const many = v.replay.length > 1;
        let savedVp = null;
        if (many && k.viewport && r.setViewport) {
          if (r.getViewport) {
            try {
              savedVp = r.getViewport({
                copy(x) {
                  this.v = [x.x, x.y, x.z, x.w];
                  return this;
                },
              }).v;
            } catch (e) {}
          }
          r.setViewport(k.viewport[0] / pr, k.viewport[1] / pr, k.viewport[2] / pr, k.viewport[3] / pr);
          if (k.scissor && r.setScissor) {
            r.setScissor(k.scissor[0] / pr, k.scissor[1] / pr, k.scissor[2] / pr, k.scissor[3] / pr);
            r.setScissorTest && r.setScissorTest(true);
          } else if (r.setScissorTest) r.setScissorTest(false);
        }
        r.render(k.scene, k.camera);
        if (savedVp) r.setViewport(...savedVp);
      }
    } catch (e) {
      WS.errors.push("pass " + ((e && e.stack) || e));
    } finally {
      L.mode = 0;
      T.replaying = false;
      saved.forEach(f => f());
      for (const [s, b] of bgs) {
        try {
          s.background = b;
        } catch (e) {}
      }
      delete gl.clearColor;
      oc.call(gl, ...cc);
      try {
        if (tgt) r.setRenderTarget(tgt);
      } catch (e) {}
    }
    const px = L.read(gl);
    px.draws = L.draws;
    return px;
  };
  T.repaint = () => {
    const v = T.views();
    if (!v.main || v.post) return false;
    T.replaying = true;
    try {
      for (const k of v.replay) k.renderer.render(k.scene, k.camera);
    } finally {
      T.replaying = false;
    }
    return true;
  };
})();
