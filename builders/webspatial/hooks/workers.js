// Marks the scripts of workers, so that the driver can put the hooks in front of them: init scripts do not reach workers.
(() => {
  const Plain = globalThis.Worker;
  if (!Plain) return;
  globalThis.Worker = class Worker extends Plain {
    constructor(url, options) {
      let marked = url;
      try {
        const u = new URL(url, document.baseURI);
        if (/^https?:/.test(u.protocol)) {
          u.searchParams.set("__ws_worker", "1");
          marked = u.href;
        }
      } catch (e) {}
      super(marked, options);
    }
  };
})();
