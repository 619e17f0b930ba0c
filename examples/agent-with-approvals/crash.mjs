// Kills this process with SIGKILL at a call of the service: CRASH_AT is the number of the call, CRASH_WHEN says whether the request is sent.
const { CRASH_AT, CRASH_WHEN } = process.env;
const call = globalThis.fetch;
let count = 0;

globalThis.fetch = async (...args) => {
  count += 1;
  if (count !== Number(CRASH_AT)) return call(...args);
  // Afterwards: the service has acted, and the agent does not learn of it.
  if (CRASH_WHEN === "after") await call(...args);
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};
