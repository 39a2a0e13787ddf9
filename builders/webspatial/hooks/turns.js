// The camera moved for a moment, and single objects turned and mirrored by the page's own renderer (three.js).
(() => {
  const L = globalThis.__WSGL,
    WS = globalThis.__WS,
    T = WS.three;
  const {tp} = WS.math;

  const kept = camera => ({
    p: camera.position.clone(),
    q: camera.quaternion.clone(),
    near: camera.near,
    far: camera.far,
    auto: camera.matrixAutoUpdate,
  });
  const restore = (camera, k) => {
    camera.position.copy(k.p);
    camera.quaternion.copy(k.q);
    camera.near = k.near;
    camera.far = k.far;
    camera.matrixAutoUpdate = k.auto;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld(true);
  };
  const place = (camera, eye, target) => {
    camera.matrixAutoUpdate = true;
    camera.position.set(...eye);
    camera.lookAt(camera.position.clone().set(...target));
    camera.updateMatrixWorld(true);
  };

  // The point on the view axis that lies at the middle of what is drawn: what a turned camera keeps looking at.
  const pivotOf = (camera, nodes) => {
    const m = camera.matrixWorld.elements;
    const depths = nodes
      .filter(n => n.mask && n.screen)
      .map(n => (n.screen.depth[0] + n.screen.depth[1]) / 2)
      .sort((a, b) => a - b);
    const d = depths.length ? depths[depths.length >> 1] : 10;
    return [m[12] - m[8] * d, m[13] - m[9] * d, m[14] - m[10] * d];
  };

  // Runs `work` with the camera turned by [azimuth, elevation] degrees about that point; null where it cannot be.
  T.withOrbit = ([az, el], work) => {
    const camera = T.views().main.camera;
    const root = camera.parent && camera.parent.type !== "Scene";
    if (root || !camera.lookAt || !camera.quaternion || camera.isArrayCamera) return null;
    const k = kept(camera);
    const target = pivotOf(camera, [...T.byObj.values()]);
    const p = camera.position;
    const [x, y, z] = [p.x - target[0], p.y - target[1], p.z - target[2]];
    const R = Math.hypot(x, y, z);
    const a = Math.atan2(x, z) + (az * Math.PI) / 180;
    const e = Math.max(-1.5, Math.min(1.5, Math.asin(y / R) + (el * Math.PI) / 180));
    try {
      const eye = [Math.cos(e) * Math.sin(a), Math.sin(e), Math.cos(e) * Math.cos(a)].map((v, i) => target[i] + R * v);
      place(camera, eye, target);
      return work();
    } catch (x) {
      WS.errors.push("orbit " + x);
      return null;
    } finally {
      restore(camera, k);
    }
  };

  const find = path => [...T.byObj].find(([, n]) => n.path === path);

  // A mesh's triangles in world coordinates: {P: [[x, y, z]...], F: [[a, b, c]...]}.
  WS.triangles = path => {
    T.graph();
    const found = find(path);
    if (!found || !found[0].geometry.attributes) return null;
    const g = found[0].geometry;
    const at = g.attributes.position;
    const m = found[0].matrixWorld.elements;
    const P = [];
    for (let i = 0; i < at.count; i++) P.push(tp(m, at.getX(i), at.getY(i), at.getZ(i)).slice(0, 3));
    const F = [];
    const n = g.index ? g.index.count : at.count;
    for (let i = 0; i + 2 < n; i += 3) F.push([0, 1, 2].map(k => (g.index ? g.index.getX(i + k) : i + k)));
    return {P, F};
  };

  // Whether every light turns with the camera or has no direction: else shading tells a mirrored object from a turned one.
  const lightIsFair = (scene, camera) => {
    let fair = true;
    scene.traverse(o => {
      if (!o.isLight || o.type === "AmbientLight") return;
      let p = o;
      while (p && p !== camera) p = p.parent;
      if (p !== camera) fair = false;
    });
    return fair;
  };

  // One object alone, seen from `direction` (unit, world), mirrored if asked; everything else hidden.
  WS.turned = (path, direction, mirror) => {
    T.graph();
    const found = find(path);
    const {scene, camera, renderer} = T.views().main;
    if (!found || !camera.isPerspectiveCamera) return {error: "not a mesh seen in perspective"};
    if (!lightIsFair(scene, camera)) return {error: "lights do not turn with the camera"};
    const [object, node] = found;
    const hidden = [...T.byObj.keys()].filter(o => o !== object && !o.children.length && o.visible);
    const k = kept(camera);
    const background = scene.background;
    const sx = object.scale.x;
    const px = object.position.clone();
    try {
      hidden.forEach(o => (o.visible = false));
      scene.background = null;
      const box = node.worldBox;
      const centre = box.min.map((v, i) => (v + box.max[i]) / 2);
      if (mirror) {
        object.scale.x = -sx;
        object.updateMatrixWorld(true);
        T.graph();
        const now = find(path)[1].worldBox;
        const off = now.min.map((v, i) => centre[i] - (v + now.max[i]) / 2);
        object.position.set(px.x + off[0], px.y + off[1], px.z + off[2]);
        object.updateMatrixWorld(true);
      }
      const R = Math.hypot(...box.min.map((v, i) => box.max[i] - v)) / 2;
      const D = (R / Math.sin((camera.fov * Math.PI) / 360)) * 1.2;
      camera.near = D * 0.01;
      camera.far = D + R * 4;
      camera.updateProjectionMatrix();
      place(
        camera,
        centre.map((v, i) => v + direction[i] * D),
        centre,
      );
      T.replaying = true;
      renderer.render(scene, camera);
      const colour = L.read(T.glOf(renderer));
      T.replaying = false;
      T.graph();
      const ids = T.pass(node.id);
      let pixels = 0;
      for (let i = 0; i < ids.b.length; i += 4)
        if (ids.b[i] | ids.b[i + 1] | ids.b[i + 2]) pixels++;
        else colour.b[i] = colour.b[i + 1] = colour.b[i + 2] = 225;
      return {png: WS.png(colour, true), pixels};
    } catch (e) {
      return {error: String(e)};
    } finally {
      T.replaying = false;
      object.scale.x = sx;
      object.position.copy(px);
      object.updateMatrixWorld(true);
      scene.background = background;
      hidden.forEach(o => (o.visible = true));
      restore(camera, k);
      T.graph();
      T.repaint();
    }
  };
})();
