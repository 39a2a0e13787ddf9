// An id switch in WebGL itself: every shader can write an object's id instead of its colour.
// Keeps skinning, displacement, alpha test and clipping as the page has them. Not its business: which object is drawn.
(() => {
  const G = globalThis;
  const cfg = Object.assign({antialias: false}, G.__WS_CFG || {});
  const L = (G.__WSGL = {
    contexts: [],
    mode: 0,
    id: 0,
    instanced: 0,
    only: 0,
    skip: 0,
    stats: {shaders: 0, spliced: 0, failed: []},
    anyFB: false,
  });
  const info = new WeakMap();
  const wrapCanvas = proto => {
    if (!proto) return;
    const o = proto.getContext;
    proto.getContext = function (type, attrs) {
      if (/webgl/.test(type) && !info.has(this))
        attrs = Object.assign(
          {},
          attrs,
          {preserveDrawingBuffer: true, depth: true},
          cfg.antialias === null ? {} : {antialias: cfg.antialias},
        );
      const c = o.call(this, type, attrs);
      if (c && /webgl/.test(type) && !info.has(this)) {
        const e = {gl: c, canvas: this, type, offscreen: !(G.HTMLCanvasElement && this instanceof HTMLCanvasElement)};
        info.set(this, e);
        L.contexts.push(e);
      }
      return c;
    };
  };
  wrapCanvas(G.HTMLCanvasElement && HTMLCanvasElement.prototype);
  wrapCanvas(G.OffscreenCanvas && OffscreenCanvas.prototype);
  const RX = /\bvoid\s+main\s*\(\s*(?:void)?\s*\)/g;
  L.splice = (src, isVertex) => {
    const es3 = /^\s*#version\s+300\s+es/.test(src);
    if (!RX.test(src)) return null;
    RX.lastIndex = 0;
    const body = src.replace(RX, "void ws_main_()");
    if (isVertex) {
      if (!es3) return src;
      return body + "\nflat out highp int ws_inst_;\nvoid main(){ ws_main_(); ws_inst_ = gl_InstanceID; }\n";
    }
    let out = "gl_FragColor";
    if (es3) {
      const outs = [
        ...src.matchAll(
          /^\s*(layout\s*\(\s*location\s*=\s*(\d+)[^)]*\)\s*)?out\s+(?:(?:highp|mediump|lowp)\s+)?(\w+)\s+(\w+)\s*(\[\s*\d+\s*\])?\s*;/gm,
        ),
      ];
      const c = outs.find(m => m[2] === "0") || outs[0];
      if (!c) return src; // depth-only: nothing to colour
      if (!/vec4|outType|Type/.test(c[3])) return src;
      out = c[4] + (c[5] ? "[0]" : "");
    } else if (/\bgl_FragData\b/.test(src)) out = "gl_FragData[0]";
    else if (!/\bgl_FragColor\b/.test(src)) out = "gl_FragColor";
    return (
      body +
      `\n${es3 ? "flat in highp int ws_inst_;\n" : ""}uniform highp vec4 ws_id_;\nvoid main(){ ws_main_(); if(ws_id_.w > 0.5){ highp float v_ = ws_id_.x${es3 ? " + (ws_id_.w > 1.5 ? float(ws_inst_) : 0.0)" : ""}; ${out} = vec4(mod(v_,256.0), mod(floor(v_/256.0),256.0), floor(v_/65536.0), 255.0)/255.0; } }\n`
    );
  };
  const cur = new WeakMap(),
    locs = new WeakMap(),
    kinds = new WeakMap();
  const patch = P => {
    if (!P) return;
    P = P.prototype;
    const cs = P.createShader;
    P.createShader = function (t) {
      const s = cs.call(this, t);
      if (s) kinds.set(s, t);
      return s;
    };
    const ss = P.shaderSource;
    P.shaderSource = function (sh, src) {
      L.stats.shaders++;
      let o = src;
      try {
        o = L.splice(src, kinds.get(sh) === this.VERTEX_SHADER) || src;
        if (o !== src) L.stats.spliced++;
      } catch (e) {
        L.stats.failed.push(String(e));
      }
      return ss.call(this, sh, o);
    };
    const gs = P.getShaderSource;
    const up = P.useProgram;
    P.useProgram = function (p) {
      cur.set(this, p);
      return up.call(this, p);
    };
    const begin = gl => {
      if (!L.mode) return 0;
      const fbo = gl.getParameter(gl.FRAMEBUFFER_BINDING);
      if (!L.anyFB && fbo !== null) return 0; // shadow maps, reflections: draw as usual
      if (!L.id || (L.only && L.id !== L.only)) return -1;
      const p = cur.get(gl);
      if (!p) return -1;
      let l = locs.get(p);
      if (l === undefined) {
        l = gl.getUniformLocation(p, "ws_id_");
        locs.set(p, l);
      }
      if (!l) return -1;
      const b = gl.isEnabled(gl.BLEND),
        d = gl.isEnabled(gl.DITHER);
      if (b) gl.disable(gl.BLEND);
      if (d) gl.disable(gl.DITHER);
      gl.uniform4f(l, L.id, 0, 0, L.instanced ? 2 : 1);
      L.draws++;
      if (L.anyFB) {
        const e = L.fbs.get(fbo) || {n: 0, vp: gl.getParameter(gl.VIEWPORT)};
        e.n++;
        L.fbs.set(fbo, e);
      }
      return {l, b, d};
    };
    const end = (gl, s) => {
      gl.uniform4f(s.l, 0, 0, 0, 0);
      if (s.b) gl.enable(gl.BLEND);
      if (s.d) gl.enable(gl.DITHER);
    };
    for (const n of [
      "drawArrays",
      "drawElements",
      "drawArraysInstanced",
      "drawElementsInstanced",
      "drawRangeElements",
    ]) {
      const o = P[n];
      if (!o) continue;
      P[n] = function (...a) {
        L.total++;
        const s = begin(this);
        if (s === 0) return o.apply(this, a);
        if (s === -1) return;
        o.apply(this, a);
        end(this, s);
      };
    }
    const ge = P.getExtension;
    P.getExtension = function (n) {
      const x = ge.call(this, n);
      if (x && !x.__ws) {
        try {
          x.__ws = 1;
          const gl = this;
          for (const f of [
            "drawArraysInstancedANGLE",
            "drawElementsInstancedANGLE",
            "multiDrawArraysWEBGL",
            "multiDrawElementsWEBGL",
            "multiDrawArraysInstancedWEBGL",
            "multiDrawElementsInstancedWEBGL",
          ])
            if (x[f]) {
              const o = x[f].bind(x);
              x[f] = (...a) => {
                L.total++;
                const s = begin(gl);
                if (s === 0) return o(...a);
                if (s === -1) return;
                o(...a);
                end(gl, s);
              };
            }
        } catch (e) {}
      }
      return x;
    };
  };
  L.draws = 0;
  L.total = 0;
  L.fbs = new Map();
  // ids drawn into an off-screen buffer (pre-pass, HDR): read that buffer back
  L.readAny = gl => {
    let best = null;
    for (const [fb, e] of L.fbs) if (!best || e.n > best[1].n) best = [fb, e];
    if (!best) return null;
    const [fb, e] = best;
    const [x, y, w, h] = e.vp;
    const o = gl.getParameter(gl.FRAMEBUFFER_BINDING);
    gl.bindFramebuffer(gl.FRAMEBUFFER, fb);
    let b = null,
      why = "";
    try {
      if (gl.getParameter(gl.SAMPLES) > 0) why = "multisampled";
      else {
        const t = gl.getParameter(gl.IMPLEMENTATION_COLOR_READ_TYPE);
        const rb = gl.READ_BUFFER && fb ? gl.getParameter(gl.READ_BUFFER) : null;
        if (rb && gl.readBuffer) gl.readBuffer(gl.COLOR_ATTACHMENT0);
        if (t === gl.UNSIGNED_BYTE) {
          b = new Uint8Array(w * h * 4);
          gl.readPixels(x, y, w, h, gl.RGBA, gl.UNSIGNED_BYTE, b);
        } else {
          const f = new Float32Array(w * h * 4);
          gl.readPixels(x, y, w, h, gl.RGBA, gl.FLOAT, f);
          b = new Uint8Array(f.length);
          for (let i = 0; i < f.length; i++) b[i] = Math.max(0, Math.min(255, Math.round(f[i] * 255)));
        }
        if (rb && gl.readBuffer) gl.readBuffer(rb);
      }
    } catch (x2) {
      why = String(x2);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, o);
    return b ? {w, h, b, fbo: !!fb} : {why};
  };
  patch(G.WebGLRenderingContext);
  patch(G.WebGL2RenderingContext);
  // The canvas' pixels, bottom row first; only L.rect [x, y, w, h] of them where that is set.
  L.rect = null;
  L.read = gl => {
    const [x, y, w, h] = L.rect || [0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight];
    const b = new Uint8Array(w * h * 4);
    const fb = gl.getParameter(gl.FRAMEBUFFER_BINDING),
      rf = gl.READ_FRAMEBUFFER ? gl.getParameter(gl.READ_FRAMEBUFFER_BINDING) : null,
      pb = gl.PIXEL_PACK_BUFFER ? gl.getParameter(gl.PIXEL_PACK_BUFFER_BINDING) : null;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    if (pb) gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    gl.readPixels(x, y, w, h, gl.RGBA, gl.UNSIGNED_BYTE, b);
    if (pb) gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pb);
    if (gl.READ_FRAMEBUFFER) {
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, fb);
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, rf);
    } else gl.bindFramebuffer(gl.FRAMEBUFFER, fb);
    return {x, y, w, h, b};
  };
})();
