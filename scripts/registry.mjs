// Serves the packages of this checkout as an npm registry on this machine, until Ctrl-C, so that they can be used as if they were published:
//
//   npm run registry [-- --port 4873]
//   export npm_config_registry=http://127.0.0.1:4873      in the terminals that use them
//
// All other packages come from the registry that npm uses here.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startRegistry } from "../packaging/release/registry.ts";
import { PUBLISHED } from "./published.mjs";

const run = promisify(execFile);
const { values } = parseArgs({ options: { port: { type: "string", default: "4873" } } });

const folder = mkdtempSync(join(tmpdir(), "mailsvc-registry-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(0));

const others = (await run("npm", ["config", "get", "registry"])).stdout.trim();
const { hostname, port } = new URL(others);
if (["127.0.0.1", "localhost", "[::1]"].includes(hostname) && port === values.port) {
  console.error(`npm takes all packages from ${others} here, the registry that this would be, so nobody has those of others.
Unset npm_config_registry in this terminal, or take the registry out of your .npmrc, and start it again.`);
  process.exit(1);
}
const own = PUBLISHED.map((name) => JSON.parse(readFileSync(new URL(`../packages/${name}/package.json`, import.meta.url), "utf8")).name);
const { url } = await startRegistry(folder, { port: Number(values.port), own, others });
const access = { npm_config_registry: url, [`npm_config_${url.replace("http:", "")}/:_authToken`]: "local" };
console.log("Building and packing …");
try {
  const publish = [fileURLToPath(new URL("release.mjs", import.meta.url)), "publish", "--tag", "next", "--no-provenance"];
  await run(process.execPath, publish, { env: { ...process.env, ...access }, maxBuffer: 1e8 });
} catch (error) {
  console.error(`The packages could not be published.\n${error.stdout}\n${error.stderr}`);
  process.exit(1);
}
console.log(`Serving the packages. In another terminal:\n\n  export npm_config_registry=${url}\n\nCtrl-C stops it.`);
