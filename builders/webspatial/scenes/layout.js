// What stands where in the sample's scenes: plain descriptions from a seed, the same for every engine.
// An object: {name, shape, colour, size, at: [x, y, z]}; y is up, the ground is y = 0, lengths are in units of the scene.
export const COLOURS = {
  red: "#d62020", green: "#209a30", blue: "#2040d8", yellow: "#f0d010",
  orange: "#ff8000", purple: "#8020b0", cyan: "#10c8d8", pink: "#ff80b0",
};
export const SHAPES = ["cube", "sphere", "cylinder", "cone", "torus"];

export function random(seed) {
  let s = (seed * 2654435761) >>> 0;
  const next = () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (a, b) => a + (b - a) * next(),
    pick: list => list[Math.floor(next() * list.length)],
    shuffled: list => {
      const out = [...list];
      for (let i = out.length - 1; i > 0; i--) {
        const k = Math.floor(next() * (i + 1));
        [out[i], out[k]] = [out[k], out[i]];
      }
      return out;
    },
  };
}

export const seedOf = () => Number(new URLSearchParams(location.search).get("seed") || 1);
export const word = (name, other) => new URLSearchParams(location.search).get(name) || other;

// Height of an object's centre above what it stands on: a torus lies flat, thick as a quarter of its width.
export const rise = (shape, size) => (shape === "torus" ? size * 0.15 : size / 2);

// Objects on the ground, none nearer to another than `gap`.
function scatter(r, wanted, radius, gap) {
  const out = [];
  for (const w of wanted) {
    for (let k = 0; k < 400; k++) {
      const a = r.between(0, 2 * Math.PI);
      const d = radius * Math.sqrt(r.next());
      const at = [d * Math.sin(a), rise(w.shape, w.size), d * Math.cos(a)];
      const free = o => Math.hypot(o.at[0] - at[0], o.at[2] - at[2]) > gap + (o.size + w.size) / 2;
      if (out.every(free)) {
        out.push({...w, at});
        break;
      }
    }
  }
  return out;
}

// Five fixed objects (mode "fixed"), or any, with colours and shapes repeated.
export function room(seed, mode) {
  const r = random(seed);
  const fixed = [["cube", "red"], ["sphere", "blue"], ["cylinder", "green"], ["cone", "yellow"], ["torus", "purple"]];
  let pairs = fixed;
  if (mode !== "fixed") {
    const colours = r.shuffled(Object.keys(COLOURS)).slice(0, 3 + Math.floor(r.next() * 2));
    const shapes = r.shuffled(SHAPES).slice(0, 3);
    const n = 5 + Math.floor(r.next() * 3);
    pairs = Array.from({length: n}, (_, k) => [shapes[k] || r.pick(shapes), colours[k] || r.pick(colours)]);
  }
  const wanted = pairs.map(([shape, colour]) => ({shape, colour, size: r.pick([0.7, 0.9, 1.3, 1.7])}));
  return scatter(r, wanted, 4, 0.25).map((o, k) => ({...o, name: `${o.colour}-${o.shape}-${k}`}));
}

// Trays, pedestals, and things in them, on them and beside them; sometimes three in a row.
export function things(seed) {
  const r = random(seed + 5000);
  const out = [];
  const spots = r.shuffled([[-2.6, -1.6], [0.1, 1.7], [2.6, -1.4], [-2.4, 1.9], [2.5, 1.9], [0, -2.2]]);
  const colours = r.shuffled(Object.keys(COLOURS));
  spots.slice(0, 2).forEach(([x, z], k) => {
    out.push({name: `tray-${k}`, shape: "tray", colour: "grey", size: 1.9, at: [x, 0, z]});
    const shape = r.pick(["cube", "sphere", "cylinder"]);
    if (r.next() < 0.8)
      out.push({name: `in-${k}`, shape, colour: colours[k], size: 0.62, at: [x + r.between(-0.4, 0.4), 0.1 + 0.31, z]});
  });
  spots.slice(2, 4).forEach(([x, z], k) => {
    const size = r.between(1, 1.3);
    out.push({name: `base-${k}`, shape: "cube", colour: colours[2 + k], size, at: [x, size / 2, z]});
    const shape = r.pick(["sphere", "cone", "cylinder", "cube"]);
    if (r.next() < 0.8)
      out.push({name: `top-${k}`, shape, colour: colours[4 + k], size: 0.7, at: [x, size + 0.35, z]});
  });
  spots.slice(4).forEach(([x, z], k) => {
    const shape = r.pick(SHAPES);
    out.push({name: `free-${k}`, shape, colour: colours[6 + k], size: 0.8, at: [x, rise(shape, 0.8), z]});
  });
  return out;
}

// Three in a row on the ground and others aside.
export function row(seed) {
  const r = random(seed + 9000);
  const a = r.between(0, Math.PI);
  const colours = r.shuffled(Object.keys(COLOURS));
  const step = r.between(2.2, 2.9);
  const along = [-1, r.between(-0.15, 0.15), 1].map(k => [k * step * Math.cos(a), k * step * Math.sin(a)]);
  const aside = [2.6, -2.6].map(k => [-k * Math.sin(a) + r.between(-0.4, 0.4), k * Math.cos(a)]);
  return [...along, ...aside].map(([x, z], k) => {
    const shape = r.pick(SHAPES);
    const size = r.between(0.7, 1);
    return {name: `thing-${k}`, shape, colour: colours[k], size, at: [x, rise(shape, size), z]};
  });
}

// Cars, each with a front, and things around them.
export function street(seed) {
  const r = random(seed + 7000);
  const colours = r.shuffled(Object.keys(COLOURS));
  const cars = [[-1.9, -0.6], [1.9, 0.6]].map(([x, z], k) => ({
    name: `car-${k}`, shape: "car", colour: colours[k], size: 1.7, at: [x, 0, z], yaw: r.between(0, 2 * Math.PI),
  }));
  const rest = [[-3.6, 2.6], [3.6, -2.6], [0, 3.2], [0, -3.2], [-3.9, -3], [3.9, 3]].map(([x, z], k) => {
    const shape = r.pick(["cube", "sphere", "cylinder", "cone"]);
    return {name: `thing-${k}`, shape, colour: colours[(k + 2) % 8], size: 0.8, at: [x, 0.4, z]};
  });
  return [...cars, ...rest.filter(() => r.next() < 0.85)];
}

// Where the camera stands: {at, look, fov}. Azimuth from the seed, looking down by 20 to 40 degrees.
export function view(seed) {
  const r = random(seed + 31);
  const azimuth = r.between(0, 2 * Math.PI);
  const elevation = (r.between(22, 38) * Math.PI) / 180;
  const d = 11.5;
  const flat = d * Math.cos(elevation);
  const at = [flat * Math.sin(azimuth), d * Math.sin(elevation), flat * Math.cos(azimuth)];
  return {at, look: [0, 0.5, 0], fov: 45};
}

// What happens in a moving scene: {name, kind, start, ...} with frames of 1/60 s. Moves are along the viewer's axes.
export function happenings(seed, objects) {
  const r = random(seed + 333);
  const starts = r.shuffled([4, 14, 24, 34]);
  const kinds = r.shuffled(["move", "turn", "grow", "paint", "move", "still"]);
  return objects.slice(0, 6).map((o, k) => {
    const kind = o.shape === "sphere" && kinds[k] === "turn" ? "move" : kinds[k];
    const way = r.pick([[1, 0], [-1, 0], [0, 1], [0, -1]]);
    const colour = r.pick(Object.keys(COLOURS).filter(c => c !== o.colour));
    return {name: o.name, kind, start: starts[k % 4], frames: 10, way, far: 2.2, colour};
  });
}
