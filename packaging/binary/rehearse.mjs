// Runs the program twice before it is packed, so that the code V8 compiles for a server and for a command is in its caches.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Writes `serve.cache` and `cli.cache` into the folder with the files of the build. */
export async function rehearse({ node, folder }) {
  const home = mkdtempSync(join(tmpdir(), "mailsvc-rehearsal-"));
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" };
  const start = (args, cache) =>
    spawn(node, [join(folder, "rehearsal.cjs"), ...args], {
      cwd: home,
      env: { ...env, CODE_CACHE: join(folder, cache) },
      stdio: ["ignore", "pipe", "inherit"],
    });
  try {
    const server = start(["dev", "--plain", "--port", "0", "--data", join(home, "data"), "--json"], "serve.cache");
    const { url, apiKey } = await firstLine(server);
    await exercise(url, apiKey);
    const client = start(["emails", "list", "--url", url, "--api-key", apiKey], "cli.cache");
    await exited(client);
    server.kill("SIGTERM");
    await exited(server);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the first line of the server's output, printed when it is ready. */
async function firstLine(server) {
  let text = "";
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  server.stdout.resume();
  if (!text.includes("\n")) throw new Error("The server of the rehearsal did not start.");
  return JSON.parse(text.slice(0, text.indexOf("\n")));
}

/** The requests that come first on most servers. */
async function exercise(url, apiKey) {
  const ask = async (path, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetch(new URL(path, url), body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
    if (!response.ok) throw new Error(`The rehearsal failed: ${path} answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  };
  await ask("/readyz");
  const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello", html: "<p>Hello</p>", text: "Hello" };
  for (let sends = 0; sends < 20; sends += 1) await ask("/api/v1/send", mail);
  await ask("/api/v1/contacts", { email: "ada@example.com", firstName: "Ada" });
  for (const path of ["contacts", "templates", "lists", "segments", "emails"]) await ask(`/api/v1/${path}`);
}

const exited = (child) =>
  new Promise((done, failed) => {
    child.stdout.resume();
    child.once("exit", (code) => (code === 0 ? done() : failed(new Error(`The rehearsal ended with exit code ${code}.`))));
  });
