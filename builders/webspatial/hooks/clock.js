// A virtual clock: time, timers, animation frames and randomness that only the driver moves.
// Not its business: scenes. Config: globalThis.__WS_CFG = {seed, epoch, fps, mode: "virtual" | "real"}.
(() => {
  const G = globalThis;
  const cfg = Object.assign({seed: 1, epoch: 1700000000000, fps: 60, mode: "virtual"}, G.__WS_CFG || {});
  const T = (G.__WST = {cfg, frame: 0, now: 0, started: false, errors: []});
  const real = (T.real = {
    setTimeout: G.setTimeout.bind(G),
    clearTimeout: G.clearTimeout.bind(G),
    raf: G.requestAnimationFrame && G.requestAnimationFrame.bind(G),
    perfNow: performance.now.bind(performance),
    Date: G.Date,
    random: Math.random,
  });
  // --- seeded random (mulberry32) ---
  let s = cfg.seed >>> 0;
  T.randomCalls = 0;
  const rnd = () => {
    T.randomCalls++;
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = rnd;
  try {
    Crypto.prototype.getRandomValues = function (a) {
      const b = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
      for (let i = 0; i < b.length; i++) b[i] = Math.floor(rnd() * 256);
      return a;
    };
    Crypto.prototype.randomUUID = function () {
      const h = n => Array.from({length: n}, () => "0123456789abcdef"[Math.floor(rnd() * 16)]).join("");
      return `${h(8)}-${h(4)}-4${h(3)}-8${h(3)}-${h(12)}`;
    };
  } catch (e) {}
  if (cfg.mode === "real") {
    // only count frames
    G.requestAnimationFrame = cb =>
      real.raf(t => {
        T.frame++;
        cb(t);
      });
    return;
  }
  // --- clock ---
  performance.now = () => T.now;
  const RD = real.Date;
  class FDate extends RD {
    constructor(...a) {
      if (a.length === 0) super(cfg.epoch + T.now);
      else super(...a);
    }
    static now() {
      return cfg.epoch + Math.floor(T.now);
    }
  }
  FDate.UTC = RD.UTC;
  FDate.parse = RD.parse;
  G.Date = FDate;
  try {
    Object.defineProperty(Event.prototype, "timeStamp", {
      configurable: true,
      get() {
        return T.now;
      },
    });
  } catch (e) {}
  try {
    Object.defineProperty(document.timeline.constructor.prototype, "currentTime", {
      configurable: true,
      get() {
        return T.now;
      },
    });
  } catch (e) {}
  // --- timers: short ones run for real while loading (libraries poll), long ones and intervals wait for virtual time ---
  let seq = 1e6;
  const timers = new Map();
  T.timers = timers;
  const call = (f, args) => {
    try {
      typeof f === "function" ? f(...args) : (0, eval)(f);
    } catch (e) {
      T.errors.push(String((e && e.stack) || e));
    }
  };
  G.setTimeout = (f, d = 0, ...a) => {
    d = Math.max(0, +d || 0);
    if (!T.started && d <= 20) return real.setTimeout(() => call(f, a));
    const id = ++seq;
    timers.set(id, {at: T.now + d, f, a, id});
    return id;
  };
  G.setInterval = (f, d = 0, ...a) => {
    d = Math.max(1, +d || 0);
    const id = ++seq;
    timers.set(id, {at: T.now + d, every: d, f, a, id});
    return id;
  };
  G.clearTimeout = G.clearInterval = id => {
    if (!timers.delete(id)) real.clearTimeout(id);
  };
  // --- animation frames ---
  let rafQ = new Map(),
    rafId = 0;
  G.requestAnimationFrame = G.webkitRequestAnimationFrame = cb => {
    rafQ.set(++rafId, cb);
    return rafId;
  };
  G.cancelAnimationFrame = G.webkitCancelAnimationFrame = id => {
    rafQ.delete(id);
  };
  let idleQ = new Map();
  G.requestIdleCallback = cb => {
    idleQ.set(++rafId, cb);
    return rafId;
  };
  G.cancelIdleCallback = id => idleQ.delete(id);
  const flush = () =>
    new Promise(r => {
      const c = new MessageChannel();
      c.port1.onmessage = () => r();
      c.port2.postMessage(0);
    });
  T.step = async (n = 1, dt = 1000 / cfg.fps) => {
    T.started = true;
    for (let k = 0; k < n; k++) {
      const until = T.now + dt;
      for (let guard = 0; guard < 10000; guard++) {
        // due timers in time order
        let best = null;
        for (const t of timers.values())
          if (t.at <= until && (!best || t.at < best.at || (t.at === best.at && t.id < best.id))) best = t;
        if (!best) break;
        T.now = Math.max(T.now, best.at);
        if (best.every) best.at += best.every;
        else timers.delete(best.id);
        call(best.f, best.a);
        await flush();
      }
      T.now = until;
      T.frame++;
      const q = [...rafQ.values()];
      rafQ = new Map();
      for (const cb of q) call(cb, [T.now]);
      const iq = [...idleQ.values()];
      idleQ = new Map();
      for (const cb of iq) call(cb, [{didTimeout: false, timeRemaining: () => 10}]);
      if (T.onframe) T.onframe(T.frame, T.now);
      await flush();
      await flush();
    }
    return {frame: T.frame, now: T.now, raf: rafQ.size, timers: timers.size, randomCalls: T.randomCalls};
  };
  // a render loop needs a first tick while loading: pump frames with the clock held (dt = 0) is left to the driver
  T.pending = () => ({raf: rafQ.size, timers: timers.size});
})();
