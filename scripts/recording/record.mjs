// Runs the commands of the recording in a terminal, and keeps what they print and when.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { COLUMNS, ROWS } from "./screen.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

// Seed of all random values: a recording that is made again differs by its times only.
const SEED = "1";
const PATIENCE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Typed commands. `$ID` is the email whose command was the last to print one. Commands of README.md are copied word by word. */
export const COMMANDS = [
  'npx mailsvc send --from hello@acme.example --to ada@example.com --subject Hi --text "From the terminal" --wait',
  "npx mailsvc inbox list",
  "npx mailsvc send --from hello@acme.example --to softbounced@simulator.mailsvc.test --subject Hi --text Hi",
  "npx mailsvc clock advance 3d",
  "npx mailsvc emails list --status failed",
  "npx mailsvc why $ID",
];

/**
 * Runs all commands, one after the other. Returns each as it was typed, with the pieces of its output: the text, and the seconds that
 * passed before it.
 */
export async function recordCommands() {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-recording-"));
  const server = await startServer(folder);
  try {
    const env = { MAILSVC_URL: server.url, MAILSVC_API_KEY: server.apiKey, HOME: folder };
    await beginInTheMorning(server.url);
    const recorded = [];
    let id = "";
    for (const command of COMMANDS) {
      const typed = command.replace("$ID", id);
      const pieces = await record(typed, folder, env);
      id = /\bem_\w{26}\b/.exec(pieces.map(({ text }) => text).join(""))?.[0] ?? id;
      recorded.push({ typed, pieces });
    }
    return recorded;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sets the server's clock to nine o'clock of the next day, from where it runs on. */
async function beginInTheMorning(url) {
  const morning = new Date(Date.now() + DAY_MS);
  morning.setUTCHours(9, 0, 0, 0);
  for (const [path, body] of [
    ["freeze", { at: morning.toISOString() }],
    ["thaw", {}],
  ]) {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${url}/__dev/clock/${path}`, options);
    if (!response.ok) throw new Error(`The clock could not be set: ${await response.text()}`);
  }
}

/** Runs one command in a terminal of the recording's size. Throws when it fails. */
async function record(command, folder, env) {
  const [log, timing] = [join(folder, "log"), join(folder, "timing")];
  const inTerminal = `stty cols ${COLUMNS} rows ${ROWS}; ${command}`;
  const terminal = { TERM: "xterm-256color", LANG: "C.UTF-8", npm_config_update_notifier: "false" };
  await run("script", ["--quiet", "--return", "--log-out", log, "--log-timing", timing, "--command", inTerminal], {
    cwd: root,
    env: { ...environment(), ...terminal, ...env },
    timeout: PATIENCE_MS,
  }).catch(({ stdout, message }) => {
    throw new Error(`${command} failed: ${message}\n${stdout}`);
  });
  // The first line of the log is about the log.
  const bytes = readFileSync(log);
  let at = bytes.indexOf("\n") + 1;
  const decoder = new TextDecoder();
  return readFileSync(timing, "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const [wait, length] = line.split(" ").map(Number);
      const text = decoder.decode(bytes.subarray(at, at + length), { stream: true });
      at += length;
      return { wait, text };
    });
}

/** The environment without what would lead commands to another server, or change how they print. */
function environment() {
  const other = /^(?:npm_|MAILSVC|VITEST|NODE_|NO_COLOR|FORCE_COLOR|CI$|COLUMNS|LINES)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !other.test(name)));
}

async function startServer(folder) {
  const ready = join(folder, "ready.json");
  const args = ["--dev", "--port", "0", "--smtp-port", "off", "--data", join(folder, "data"), "--seed", SEED, "--ready-file", ready];
  const child = spawn(process.execPath, [join(root, "packages/server/dist/main.js"), ...args], {
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  for (const end = performance.now() + PATIENCE_MS; !existsSync(ready); await sleep(20))
    if (child.exitCode !== null || performance.now() > end) throw new Error(`The server did not become ready.\n${said}`);
  const { url, apiKey } = JSON.parse(readFileSync(ready, "utf8"));
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return { url, apiKey, stop };
}
