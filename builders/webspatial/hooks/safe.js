// A page cannot stop the driver with a dialog, open windows, or reach a graphics interface that ids cannot be drawn in.
(() => {
  const G = globalThis;
  const S = (G.__WSSAFE = {dialogs: 0, windows: 0, webgpu: false});
  if (typeof window !== "undefined") {
    G.alert = () => void S.dialogs++;
    G.confirm = () => (S.dialogs++, false);
    G.prompt = () => (S.dialogs++, null);
    G.print = () => void S.dialogs++;
    G.open = () => (S.windows++, null);
  }
  // Without WebGPU three.js falls back to WebGL 2, where masks can be drawn; that it was asked for is remembered.
  try {
    const nav = Object.getPrototypeOf(G.navigator);
    Object.defineProperty(nav, "gpu", {configurable: true, get: () => ((S.webgpu = true), undefined)});
  } catch (e) {}
})();
