// Proves the configuration files that the documentation shows, each with the program it is for.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { parseDocument } from "yaml";
import { SERVE_FLAGS } from "../packages/server/src/config.ts";
import type { Block } from "./markdown.ts";

const exec = promisify(execFile);
const root = fileURLToPath(new URL("../", import.meta.url));
const PUBLIC = "mail.example.com";
const UPSTREAM = "127.0.0.1:2526";

/** Surroundings of a block's proof: its page, a folder for its files, and the server. */
interface Place {
  readonly page: string;
  readonly folder: string;
  readonly server: string;
  readonly bash: (command: string) => Promise<void>;
}

type Proof = (block: Block, place: Place) => Promise<void>;

/** The proofs by the language of a block. */
export const PROOFS: Readonly<Record<string, Proof>> = {
  json: proveJson,
  console: proveTranscript,
  ini: proveUnit,
  yaml: proveYaml,
  nginx: proveNginx,
  caddyfile: proveCaddyfile,
};

/** The settings of a client of MCP: the command, or the address with its headers, answers the first message of the protocol. */
interface McpSettings {
  readonly [list: string]: Readonly<Record<string, { command?: string; args?: readonly string[]; url?: string }>>;
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "docs", version: "1" } },
});

async function proveJson({ text }: Block, { page, server, bash }: Place): Promise<void> {
  const content = JSON.parse(text) as McpSettings;
  expect(content).toBeTypeOf("object");
  if (!page.endsWith("/mcp.md")) return;
  for (const { command, args = [], url } of Object.values(content.mcpServers ?? content.servers ?? {})) {
    const headers =
      '-H "Authorization: Bearer $MAILSVC_API_KEY" -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"';
    const path = url === undefined ? "" : new URL(url).pathname;
    const asked =
      command === undefined
        ? `curl -sS ${headers} -d '${INITIALIZE}' ${server}${path}`
        : `(echo '${INITIALIZE}'; sleep 5) | ${command} ${args.join(" ")}`;
    await bash(`${asked} | grep '"serverInfo"'`);
  }
}

/** Transcripts of a terminal are compared by `packages/cli/test/transcripts.test.ts`, with a server whose clock stands still. */
async function proveTranscript({ text }: Block, { page }: Place): Promise<void> {
  expect(text).toMatch(/^\$ /);
  expect(readFileSync(join(root, "packages/cli/test/transcripts.test.ts"), "utf8")).toContain(JSON.stringify(basename(page)));
}

/** A unit of systemd: known flags, and what systemd-analyze says of it. Units of one page see each other, as a timer and its service. */
async function proveUnit({ text, label }: Block, { folder }: Place): Promise<void> {
  expectKnownFlags(text);
  const units = join(folder, "units");
  mkdirSync(units, { recursive: true });
  const unit = join(units, label || "mailsvc.service");
  // The program is not installed here, so another one stands for it.
  writeFileSync(unit, text.replaceAll(/^ExecStart=\S+/gm, `ExecStart=${process.execPath}`));
  const { stdout, stderr } = await exec("systemd-analyze", ["verify", "--man=no", unit]);
  expect(`${stdout}${stderr}`).toBe("");
}

/** A workflow, whose commands are run, or services of Docker Compose, whose variables and flags exist. */
async function proveYaml({ text }: Block, { bash }: Place): Promise<void> {
  const document = parseDocument(text);
  expect(document.errors).toEqual([]);
  const content = document.toJS() as Workflow & Compose;
  if (content.services) expectComposed(content);
  for (const { environment = {}, command = "" } of Object.values(content.services ?? {})) {
    const variables = SERVE_FLAGS.map(({ env }) => env as string);
    expect(variables).toEqual(expect.arrayContaining(Object.keys(environment).filter((name) => name.startsWith("MAILSVC_"))));
    expectKnownFlags(command);
  }
  const github = Object.values(content.jobs ?? {}).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  // Installing from a registry is what the page's folder stands for.
  for (const command of [...github, ...(content.test?.script ?? [])]) if (command !== "npm ci") await bash(command);
}

interface Workflow {
  readonly jobs?: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  readonly test?: { readonly script: readonly string[] };
}
interface Compose {
  readonly services?: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
}
interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

/** Services of Docker Compose: what they name exists, and ours are given what our image has. */
function expectComposed({ services = {}, volumes = {} }: Compose): void {
  const version = (JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string }).version;
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const exposed = [...dockerfile.matchAll(/^EXPOSE (.+)$/gm)].flatMap(([, listed = ""]) => listed.split(" "));
  const [, data] = /^VOLUME (\S+)$/m.exec(dockerfile) ?? [];
  const mounts = Object.values(services).flatMap((service) => service.volumes ?? []);
  expect(mounts.map((mount) => mount.split(":")[0])).toEqual(Object.keys(volumes));
  for (const { depends_on: needed = {} } of Object.values(services))
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(needed)));
  const { image, ports = [], volumes: own = [], environment = {} } = services["mailsvc"] as Service;
  expect(image).toBe(`mailsvc:${version}`);
  for (const published of ports) expect(exposed).toContain(published.split(":").at(-1));
  for (const mount of own) expect(mount.split(":")[1]).toBe(data);
  // It has a place for its data: a volume or another database, whose first keys need a volume besides.
  expect(own.length > 0 || "MAILSVC_DATABASE_URL" in environment).toBe(true);
}

function expectKnownFlags(text: string): void {
  const serve = text.split("\n").filter((line) => line.includes(" serve "));
  const flags = serve.flatMap((line) => [...line.matchAll(/ --([a-z-]+)/g)].map(([, flag]) => flag));
  expect(SERVE_FLAGS.map(({ name }) => name as string)).toEqual(expect.arrayContaining(flags));
}

/** nginx runs with the block, on ports and with a certificate of the test's, and a request goes through it. */
async function proveNginx({ text }: Block, { folder, server }: Place): Promise<void> {
  const [https, http] = [await getFreePort(), await getFreePort()];
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  await exec("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${PUBLIC}`, "-keyout", key, "-out", cert]);
  const site = text
    .replace("listen 443", `listen 127.0.0.1:${https}`)
    .replace("listen 80", `listen 127.0.0.1:${http}`)
    .replace(/\/etc\/letsencrypt\S+fullchain.pem/, cert)
    .replace(/\/etc\/letsencrypt\S+privkey.pem/, key)
    .replaceAll(UPSTREAM, new URL(server).host);
  const config = join(folder, "nginx.conf");
  const logs = `error_log stderr; pid ${join(folder, "nginx.pid")}; daemon off;`;
  writeFileSync(config, `${logs}\nevents {}\nhttp { access_log off;\n${site}\n}\n`);
  await serveWhile(installed("/usr/sbin/nginx", "nginx-light"), ["-p", folder, "-e", "stderr", "-c", config], async () => {
    await expectAnswers(`https://${PUBLIC}:${https}/readyz`, https);
    const { stdout } = await curl(`http://${PUBLIC}:${http}/x?y=1`, http, "-o", "/dev/null", "-w", "%{redirect_url}");
    expect(stdout).toBe(`https://${PUBLIC}/x?y=1`);
  });
}

/** Caddy accepts the block; if it leads to the server's usual address, Caddy runs with it and a request goes through it. */
async function proveCaddyfile({ text }: Block, { folder, server }: Place): Promise<void> {
  const caddy = installed("/usr/bin/caddy", "caddy");
  const file = join(folder, "Caddyfile");
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  writeFileSync(file, text);
  await exec(caddy, ["validate", "--adapter", "caddyfile", "--config", file], { env });
  await exec(caddy, ["fmt", file]).then(({ stdout }) => expect(text, "as caddy fmt writes it").toBe(stdout));
  if (!text.includes(UPSTREAM)) return;
  const port = await getFreePort();
  // Without certificates, which Caddy would fetch.
  const site = text.replace(`${PUBLIC} {`, `http://${PUBLIC}:${port} {`).replace(UPSTREAM, new URL(server).host);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  const run = ["run", "--adapter", "caddyfile", "--config", file];
  await serveWhile(caddy, run, () => expectAnswers(`http://${PUBLIC}:${port}/readyz`, port), env);
}

const installed = (program: string, name: string): string => {
  if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install ${name}`);
  return program;
};

const curl = (url: string, port: number, ...args: string[]) =>
  exec("curl", [
    "-ksS",
    "--retry",
    "60",
    "--retry-delay",
    "1",
    "--retry-connrefused",
    "--resolve",
    `${PUBLIC}:${port}:127.0.0.1`,
    ...args,
    url,
  ]);

const expectAnswers = async (url: string, port: number): Promise<void> => {
  const { stdout } = await curl(url, port, "-o", "/dev/null", "-w", "%{http_code}");
  expect(stdout).toBe("200");
};

/** Runs a program that serves, for as long as `use` takes. */
async function serveWhile(program: string, args: readonly string[], use: () => Promise<void>, env = process.env): Promise<void> {
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (data) => (output += data));
  const ended = once(child, "exit");
  try {
    await use();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${output}`);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

/** A port that was free a moment ago. */
async function getFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port was given.");
  return address.port;
}
