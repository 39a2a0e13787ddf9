// What the pages of this folder share: a renderer with shadows, a camera, a floor, and coloured boxes and balls.
import * as THREE from "https://cdn.jsdelivr.net/npm/three@0.160.0/build/three.module.js";

export {THREE};
export const renderer = new THREE.WebGLRenderer();
export const scene = new THREE.Scene();
export const camera = new THREE.PerspectiveCamera(45, 4 / 3, 0.1, 100);
renderer.setSize(400, 300);
renderer.shadowMap.enabled = true;
document.body.style.margin = "0";
document.body.append(renderer.domElement);
scene.background = new THREE.Color(0xdde4ea);
camera.position.set(0, 5, 12);
camera.lookAt(0, 1, 0);
const sun = new THREE.DirectionalLight(0xffffff, 2);
sun.position.set(4, 9, 6);
sun.castShadow = true;
scene.add(sun, new THREE.AmbientLight(0xffffff, 1));
export const floor = new THREE.Mesh(new THREE.PlaneGeometry(14, 14), new THREE.MeshLambertMaterial({color: 0x999988}));
floor.rotation.x = -Math.PI / 2;
floor.receiveShadow = true;
scene.add(floor);

export const add = (geometry, color, x, y, z) => {
  const mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({color}));
  mesh.position.set(x, y, z);
  mesh.castShadow = true;
  scene.add(mesh);
  return mesh;
};
export const box = (color, x, y, z, edge = 1) => add(new THREE.BoxGeometry(edge, edge, edge), color, x, y, z);
export const ball = (color, x, y, z, radius = 0.5) => add(new THREE.SphereGeometry(radius, 20, 14), color, x, y, z);
export const loop = step =>
  renderer.setAnimationLoop(time => {
    step(time);
    renderer.render(scene, camera);
  });
