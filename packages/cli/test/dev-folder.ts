import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestWorld } from "@mailsvc/server/testing";
import { folder } from "./harness.ts";

/** Address of a folder's pretended dev server. */
export const SERVER = "http://127.0.0.1:2526";

/** The network of the program: the server's address on this machine leads to the world. */
export function through(world: TestWorld): typeof fetch {
  return (input, init) => world.fetch(String(input).replace(SERVER, world.url), init);
}

/** A folder with a package.json and the dev.json of a server. */
export function project(world: TestWorld, name: string): string {
  const cwd = folder();
  mkdirSync(join(cwd, ".mailsvc"));
  const profiles = { brand: { apiKey: world.apiKey }, builder: { apiKey: world.builder.apiKey } };
  const dev = { url: SERVER, apiKey: world.apiKey, profiles, pid: process.pid };
  writeFileSync(join(cwd, ".mailsvc/dev.json"), JSON.stringify(dev), { mode: 0o600 });
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name }));
  return cwd;
}
