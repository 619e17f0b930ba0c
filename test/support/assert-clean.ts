import { afterAll, vi } from "vitest";

/** Captures the state that a test file must leave as it was, since the next file runs in the same process. */
function takeState(): Record<string, unknown> {
  const { Request, Response, Headers, fetch, Date: date, setTimeout, setInterval, setImmediate, queueMicrotask } = globalThis;
  return {
    ...{ Request, Response, Headers, fetch, Date: date, setTimeout, setInterval, setImmediate, queueMicrotask },
    "the working directory": process.cwd(),
    "the exit code": process.exitCode,
    "Math.random": Math.random,
    "process.stdout.write": process.stdout.write,
    "process.stderr.write": process.stderr.write,
    ...Object.fromEntries(Object.entries(process.env).map(([name, value]) => [`the environment variable ${name}`, value])),
  };
}

const before = takeState();
const umask = process.umask();

// Registered before those of the file, so it runs after them.
afterAll(() => {
  vi.unstubAllEnvs();
  // A server makes its files private to its user, for as long as its process runs.
  process.umask(umask);
  const after = takeState();
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
  if (changed.length > 0) throw new Error(`This file leaves changed for the files that run after it: ${changed.join(", ")}.`);
});
