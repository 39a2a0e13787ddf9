// The sample's scenes in three.js: builds what `layout.js` describes.
import * as THREE from "https://cdn.jsdelivr.net/npm/three@0.187.0/build/three.module.js";
import {COLOURS, view} from "./layout.js";

const GEOMETRY = {
  cube: s => new THREE.BoxGeometry(s, s, s),
  sphere: s => new THREE.SphereGeometry(s / 2, 32, 20),
  cylinder: s => new THREE.CylinderGeometry(s / 2, s / 2, s, 32),
  cone: s => new THREE.ConeGeometry(s / 2, s, 32),
  torus: s => new THREE.TorusGeometry(s * 0.35, s * 0.15, 16, 40),
};
const paint = colour => new THREE.MeshLambertMaterial({color: COLOURS[colour] || "#8a8a8a"});

const box = (w, h, d, material, x, y, z) => {
  const mesh = new THREE.Mesh(new THREE.BoxGeometry(w, h, d), material);
  mesh.position.set(x, y, z);
  return mesh;
};

// A tray with low walls; a car that looks along its own +z, with lamps in front. Each counts as one thing.
function tray(o) {
  const g = new THREE.Group();
  const s = o.size;
  const m = new THREE.MeshLambertMaterial({color: "#b8b0a0"});
  g.add(box(s, 0.1, s, m, 0, 0.05, 0));
  for (const k of [-1, 1]) {
    g.add(box(0.08, 0.85, s, m, (k * s) / 2, 0.425, 0));
    g.add(box(s, 0.85, 0.08, m, 0, 0.425, (k * s) / 2));
  }
  g.userData = {entity: "tray"};
  return g;
}
function car(o) {
  const g = new THREE.Group();
  const s = o.size;
  g.add(box(s * 0.5, s * 0.2, s, paint(o.colour), 0, s * 0.2, 0));
  g.add(box(s * 0.42, s * 0.18, s * 0.45, new THREE.MeshLambertMaterial({color: "#dfe8f0"}), 0, s * 0.38, -s * 0.12));
  for (const x of [-1, 1])
    for (const z of [-1, 1]) {
      const wheel = new THREE.Mesh(
        new THREE.CylinderGeometry(s * 0.12, s * 0.12, s * 0.08, 20),
        new THREE.MeshLambertMaterial({color: "#202020"}),
      );
      wheel.rotation.z = Math.PI / 2;
      wheel.position.set(x * s * 0.26, s * 0.12, z * s * 0.3);
      g.add(wheel);
    }
  for (const x of [-1, 1])
    g.add(box(s * 0.1, s * 0.08, s * 0.03, new THREE.MeshBasicMaterial({color: "#fff6c0"}), x * s * 0.16, s * 0.22, s * 0.5));
  g.rotation.y = o.yaw;
  g.userData = {entity: "car", front: [0, 0, 1]};
  return g;
}

export function build(objects, seed, {ground = true} = {}) {
  const renderer = new THREE.WebGLRenderer();
  renderer.setPixelRatio(1);
  renderer.setSize(innerWidth, innerHeight);
  document.body.append(renderer.domElement);
  const scene = new THREE.Scene();
  scene.background = new THREE.Color("#dfe6ee");
  const v = view(seed);
  const camera = new THREE.PerspectiveCamera(v.fov, innerWidth / innerHeight, 0.1, 100);
  camera.position.set(...v.at);
  camera.lookAt(...v.look);
  scene.add(new THREE.AmbientLight("#ffffff", 2.1));
  const sun = new THREE.DirectionalLight("#ffffff", 1.4);
  sun.position.set(2, 6, 3);
  scene.add(sun);
  if (ground) {
    const floor = new THREE.Mesh(
      new THREE.PlaneGeometry(40, 40),
      new THREE.MeshLambertMaterial({color: "#c9c4b8"}),
    );
    floor.name = "ground";
    floor.rotation.x = -Math.PI / 2;
    scene.add(floor);
  }
  const byName = {};
  for (const o of objects) {
    const made = {tray, car}[o.shape];
    const thing = made ? made(o) : new THREE.Mesh(GEOMETRY[o.shape](o.size), paint(o.colour));
    if (o.shape === "torus") thing.rotation.x = Math.PI / 2;
    thing.name = o.name;
    thing.position.set(...o.at);
    scene.add(thing);
    byName[o.name] = thing;
  }
  return {THREE, renderer, scene, camera, byName, paint};
}

export function loop({renderer, scene, camera}, tick = () => {}) {
  let frame = 0;
  const draw = () => {
    tick(frame++);
    renderer.render(scene, camera);
    requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
}
