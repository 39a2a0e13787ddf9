// The scene graph of three.js (and A-Frame, react-three-fiber): nodes, materials, boxes, camera.
(() => {
  const G = globalThis,
    L = G.__WSGL,
    WS = G.__WS,
    T = WS.three;
  const {mul, tp, inv, q5, qa, decompose, ident, grow, newBox, boxOut, project, corners} = WS.math;
  const {isScene, glOf} = T;
  const {verts, flags, typeOf, drawable, hex, tex, mat, params, instMats, camOut} = T.parts;
  T.graph = (opt = {}) => {
    const v = T.views();
    if (!v.main) return null;
    const {scene, camera, renderer} = v.main;
    try {
      if (scene.updateMatrixWorld && opt.update) scene.updateMatrixWorld();
    } catch (e) {}
    const gl = glOf(renderer);
    const W = renderer.domElement.width,
      H = renderer.domElement.height;
    const vp = v.main.viewport && v.main.viewport[2] > 0 && !v.post ? v.main.viewport : [0, 0, W, H];
    const VM = inv(camera.matrixWorld.elements);
    const PV = VM ? mul(camera.projectionMatrix.elements, VM) : camera.projectionMatrix.elements;
    const nodes = [];
    let nextId = 1;
    const byObj = new Map();
    const roots = [...new Set(v.replay.map(k => k.scene))];
    if (!roots.includes(scene)) roots.unshift(scene);
    const walk = (o, parent, path, vis, sceneIdx) => {
      const me = nodes.length;
      const type = typeOf(o);
      const effVis = vis && o.visible !== false;
      const mw = o.matrixWorld ? o.matrixWorld.elements : ident;
      const n = Object.assign(
        {
          i: me,
          parent,
          path,
          scene: sceneIdx,
          type,
          name: o.name || "",
          uuid: o.uuid || null,
          visible: o.visible !== false,
          effectiveVisible: effVis,
          inCameraLayers: o.layers && camera.layers ? (o.layers.mask & camera.layers.mask) !== 0 : true,
          renderOrder: o.renderOrder || 0,
          flags: flags.filter(f => o[f] === true),
        },
        {world: decompose(mw), matrixWorld: qa(mw)},
      );
      if (o.userData && Object.keys(o.userData).length) {
        try {
          n.userData = JSON.parse(
            JSON.stringify(o.userData, (k, x) =>
              x && typeof x === "object" && (x.isObject3D || (typeof Node !== "undefined" && x instanceof Node))
                ? undefined
                : x,
            ).slice(0, 2000),
          );
        } catch (e) {}
      }
      if (o.isLight || /Light$/.test(type))
        n.light = {color: hex(o.color), intensity: o.intensity, distance: o.distance, angle: o.angle};
      if (o.isBone) n.bone = true;
      if (drawable(o)) {
        byObj.set(o, n);
        n.drawable = true;
        n.geometry = o.geometry
          ? {
              type: o.geometry.type || (o.geometry.constructor && o.geometry.constructor.name) || null,
              parameters: params(o.geometry),
              vertices: null,
              groups: (o.geometry.groups || []).length,
              index: o.geometry.index ? o.geometry.index.count : null,
            }
          : null;
        n.material = mat(o.material);
        const vs = verts(o);
        const count = o.isInstancedMesh ? o.count || 0 : 1;
        n.instanceCount = o.isInstancedMesh ? count : undefined;
        n.id = nextId;
        n.idCount = Math.max(1, count);
        nextId += n.idCount;
        if (vs && vs.p.length) {
          n.geometry.vertices = vs.n;
          const lb = newBox();
          for (let i = 0; i < vs.p.length; i += 3) grow(lb, vs.p[i], vs.p[i + 1], vs.p[i + 2]);
          n.localBox = boxOut(lb);
          n.deformed = vs.deform || undefined;
          const wb = newBox();
          const pts = [];
          const corners = b => {
            const r = [];
            for (const x of [b[0], b[3]]) for (const y of [b[1], b[4]]) for (const z of [b[2], b[5]]) r.push([x, y, z]);
            return r;
          };
          if (o.isInstancedMesh) {
            n.instances = instMats(o, opt.maxInstances || 500).map((m, k) => {
              const w = mul(mw, m);
              const b = newBox();
              for (const c of corners(lb)) {
                const p = tp(w, ...c);
                grow(b, p[0], p[1], p[2]);
                grow(wb, p[0], p[1], p[2]);
                pts.push(p);
              }
              const d = decompose(w);
              let col = null;
              if (o.instanceColor) {
                const a = o.instanceColor.array;
                col = [a[k * 3], a[k * 3 + 1], a[k * 3 + 2]].map(q5);
              }
              return {
                id: n.id + k,
                position: d.position,
                quaternion: d.quaternion,
                scale: d.scale,
                worldBox: boxOut(b),
                colorLinear: col,
              };
            });
          } else {
            for (let i = 0; i < vs.p.length; i += 3) {
              const p = tp(mw, vs.p[i], vs.p[i + 1], vs.p[i + 2]);
              grow(wb, p[0], p[1], p[2]);
              pts.push(p);
            }
          }
          n.worldBox = boxOut(wb);
          n.screen = project(PV, vp[2], vp[3], pts);
        } else if (/Sprite/.test(type)) {
          const p = [mw[12], mw[13], mw[14]];
          n.worldBox = {min: qa(p), max: qa(p)};
          n.screen = project(PV, vp[2], vp[3], [p]);
        }
      }
      nodes.push(n);
      let k = 0;
      for (const c of o.children || [])
        walk(
          c,
          me,
          path + "/" + (c.name ? String(c.name).replace(/\//g, "_") : typeOf(c)) + "#" + k++,
          effVis,
          sceneIdx,
        );
    };
    roots.forEach((r, i) => walk(r, -1, "scene" + i, true, i));
    T.byObj = byObj;
    const bg = scene.background;
    let background = null;
    try {
      background =
        bg && bg.isColor
          ? hex(bg)
          : bg && bg.isTexture
            ? tex(bg)
            : renderer.getClearColor
              ? renderer.getClearColor.length > 0
                ? (() => {
                    const t = (scene.fog && scene.fog.color && scene.fog.color.clone()) || null;
                    return t ? hex(renderer.getClearColor(t)) : null;
                  })()
                : hex(renderer.getClearColor())
              : null;
    } catch (e) {}
    return {
      engine: "three.js",
      framework: G.AFRAME ? {name: "A-Frame", version: String(G.AFRAME.version || "")} : undefined,
      revision: T.revision || null,
      renderer: renderer.isWebGPURenderer ? "WebGPURenderer" : "WebGLRenderer",
      up: [0, 1, 0],
      handed: "right",
      canvas: {w: W, h: H, cssW: renderer.domElement.clientWidth, cssH: renderer.domElement.clientHeight},
      viewport: vp,
      views: v.replay.length,
      renderCalls: v.nCalls,
      postProcessing: v.post,
      sceneCount: T.scenes.size,
      rendererCount: T.renderers.size,
      fog: scene.fog ? {color: hex(scene.fog.color)} : null,
      background,
      camera: camOut(camera),
      toneMapping: renderer.toneMapping,
      nodes,
    };
  };
})();
