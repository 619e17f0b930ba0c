import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Registry, startRegistry } from "../../packaging/release/registry.ts";
import { cleanEnvironment } from "../dev-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The environment of a user whose home is `home`, and whose npm reads its settings and keeps its cache in `folder`. */
export function npmEnvironment(folder: string, home: string): Record<string, string | undefined> {
  const npm = {
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_cache: join(folder, "cache"),
    npm_config_update_notifier: "false",
  };
  const inherited = Object.entries(cleanEnvironment()).filter(([name]) => !/^npm_/.test(name));
  return { ...Object.fromEntries(inherited), ...npm, HOME: home, NO_COLOR: "1" };
}

/** Writes the settings of `npmEnvironment` into `folder`: everything comes from this registry. */
export function useRegistry(folder: string, url: string): void {
  const token = `${url.replace("http:", "")}/:_authToken=local`;
  writeFileSync(join(folder, "npmrc"), `registry=${url}\n${token}\naudit=false\nfund=false\n`);
}

/** Builds all packages and publishes them to their own registry, with its files in `folder`. */
export async function publishPackages(folder: string): Promise<Registry> {
  const registry = await startRegistry(join(folder, "registry"));
  useRegistry(folder, registry.url);
  const publish = [join(root, "scripts/release.mjs"), "publish", "--tag", "next", "--no-provenance"];
  try {
    await promisify(execFile)(process.execPath, publish, { cwd: root, env: npmEnvironment(folder, folder), maxBuffer: 1e8 });
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`The packages could not be published.\n${stdout}\n${stderr}`);
  }
  return registry;
}
