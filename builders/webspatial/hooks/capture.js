// One call for the driver: graph, picture, masks, visible parts, all of one frozen instant.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {q5} = WS.math;
  const realNow = G.__WST ? G.__WST.real.perfNow : performance.now.bind(performance);

  // The engine that draws the page, behind one face; null where there is no scene.
  WS.engine = () => {
    WS.globals();
    if (T.calls.length && T.views().main) {
      const view = T.views().main;
      return {
        three: true,
        graph: T.graph,
        pass: T.pass,
        gl: () => T.glOf(view.renderer),
        canvas: () => view.renderer.domElement,
        repaint: T.repaint,
        drawables: () => T.parts.countDraw(view.scene),
      };
    }
    const b = WS.babylon.pick();
    if (b)
      return {
        graph: WS.babylon.graph,
        pass: WS.babylon.pass,
        gl: () => b.getEngine()._gl,
        canvas: () => b.getEngine().getRenderingCanvas(),
        repaint: () => b.render(),
        drawables: () => b.meshes.length,
      };
    const a = WS.pc.pick();
    if (a)
      return {
        graph: WS.pc.graph,
        pass: WS.pc.pass,
        gl: () => a.graphicsDevice.gl,
        canvas: () => a.graphicsDevice.canvas,
        repaint: () => a.render(),
        drawables: () => 0,
      };
    return null;
  };

  const putMasks = (nodes, stats) => {
    let seen = 0;
    for (const n of nodes) {
      if (!n.drawable) continue;
      n.maskPixels = 0;
      for (const k of n.idCount > 1 ? n.instances || [] : [n])
        if (stats[k.id]) {
          k.mask = stats[k.id];
          n.maskPixels += stats[k.id].pixels;
        }
      if (n.maskPixels) seen++;
    }
    return seen;
  };

  const onScreen = (n, w, h) => {
    const b = n.screen && n.screen.box;
    return n.maskPixels || (b && b[2] > 0 && b[3] > 0 && b[0] < w && b[1] < h);
  };

  // How much of an object's own silhouette is seen, and whose ids cover the rest.
  const visiblePart = (id, alone, together) => {
    let total = 0,
      seen = 0;
    const by = {};
    const dx = alone.x || 0,
      dy = alone.y || 0;
    for (let i = 0, p = 0; i < alone.b.length; i += 4, p++) {
      if (alone.b[i + 3] !== 255 || !(alone.b[i] | alone.b[i + 1] | alone.b[i + 2])) continue;
      total++;
      const k = ((dy + Math.floor(p / alone.w)) * together.w + dx + (p % alone.w)) * 4;
      const v = together.b[k] + together.b[k + 1] * 256 + together.b[k + 2] * 65536;
      if (v === id) seen++;
      else if (v) by[v] = (by[v] || 0) + 1;
    }
    return {total, seen, by};
  };

  // Where an object can be in the picture, in WebGL's pixels; reading no more is what keeps a pass cheap.
  const rectOf = (n, w, h) => {
    const boxes = [n.mask && n.mask.box, n.screen && !n.screen.behind && n.screen.box].filter(Boolean);
    if (!n.screen || n.screen.behind || n.deformed || !boxes.length) return null;
    const x0 = Math.max(0, Math.floor(Math.min(...boxes.map(b => b[0]))) - 4),
      y0 = Math.max(0, Math.floor(Math.min(...boxes.map(b => b[1]))) - 4),
      x1 = Math.min(w, Math.ceil(Math.max(...boxes.map(b => b[2]))) + 4),
      y1 = Math.min(h, Math.ceil(Math.max(...boxes.map(b => b[3]))) + 4);
    return x1 > x0 && y1 > y0 ? [x0, h - y1, x1 - x0, y1 - y0] : null;
  };

  const putVisible = (E, nodes, together, opt, out) => {
    const t0 = realNow();
    const wanted = nodes.filter(n => n.drawable && n.idCount === 1 && n.effectiveVisible);
    wanted.sort((a, b) => b.maskPixels - a.maskPixels || a.id - b.id);
    let k = 0;
    for (const n of wanted) {
      if (!onScreen(n, together.w, together.h)) continue;
      if (k++ >= opt.solo || realNow() - t0 > opt.soloMs) {
        out.soloStopped = true;
        return;
      }
      L.rect = E.three ? rectOf(n, together.w, together.h) : null;
      let alone = null;
      try {
        alone = E.pass(n.id);
      } finally {
        L.rect = null;
      }
      if (!alone) return;
      const part = visiblePart(n.id, alone, together);
      n.soloPixels = part.total;
      n.visibleFraction = part.total ? q5(n.maskPixels / part.total) : null;
      n.occludedBy = part.by;
    }
  };

  // The same visible parts from cameras turned a little about the scene, so that what is "hidden" does not hang on a hair.
  const nearbyViews = (E, nodes, opt) => {
    const turned = nodes.filter(n => n.visibleFraction !== undefined && n.maskPixels > 0).slice(0, opt.nearbySolo);
    const views = [];
    for (const [az, el] of [
      [1, 1],
      [-1, -1],
      [1, -1],
      [-1, 1],
    ]) {
      const degrees = [az * opt.nearby, el * opt.nearby];
      const visible = T.withOrbit(degrees, () => {
        const together = E.pass(0);
        const found = {};
        for (const n of turned) {
          const part = visiblePart(n.id, E.pass(n.id), together);
          found[n.id] = {fraction: part.total ? q5(part.seen / part.total) : null, by: part.by};
        }
        return found;
      });
      if (visible) views.push({degrees, visible});
    }
    return views;
  };

  WS.capture = given => {
    const opt = Object.assign({solo: 12, soloMs: 6000, nearby: 0, nearbySolo: 8, maxDrawables: 2000}, given);
    const E = WS.engine();
    if (!E) return {error: "no_scene", status: WS.status()};
    const n = E.drawables();
    if (n > opt.maxDrawables) return {error: "too_many_drawables", count: n, status: WS.status()};
    const gl = E.gl();
    L.rect = [0, 0, 1, 1];
    if (gl) L.read(gl); // Waits for the page's own frames that are still being drawn: their time is not ours.
    L.rect = null;
    const t0 = realNow();
    const colour = gl ? L.read(gl) : null;
    const graph = E.graph();
    if (!graph || !graph.camera) return {error: "no_camera", status: WS.status()};
    const count = graph.nodes.filter(k => k.drawable).length;
    if (count > opt.maxDrawables) return {error: "too_many_drawables", count, status: WS.status()};
    const out = {graph};
    if (colour) out.colorPng = WS.png(colour, true);
    if (gl) {
      const together = E.pass(0);
      if (together) {
        out.idPng = WS.png(together, true);
        const stats = WS.stats(together, colour);
        out.objectsSeen = putMasks(graph.nodes, stats);
        out.maskPixels = Object.values(stats).reduce((a, s) => a + s.pixels, 0);
        if (opt.solo) putVisible(E, graph.nodes, together, opt, out);
        if (E.three && opt.nearby && realNow() - t0 < opt.soloMs) out.nearby = nearbyViews(E, graph.nodes, opt);
      }
      try {
        E.repaint();
      } catch (e) {}
    }
    out.status = WS.status();
    out.captureMs = realNow() - t0;
    return out;
  };
})();
