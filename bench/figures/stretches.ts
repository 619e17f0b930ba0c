import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SEND_LIMITS } from "../../packages/sdk/src/contract/send-fields.ts";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";
import { call, mailsvc } from "../contenders.ts";
import type { Bench, Figure } from "../figure.ts";
import { CONNECTIONS, startSink } from "./drain.ts";

const RECIPIENTS = 4;
const POLL_MS = 200;
const PROBE = pathToFileURL(join(import.meta.dirname, "../load/stretches.ts"));
const FROM = "Acme <hello@bench.acme.dev>";

/** The longest stretches in which the event loop serves no other request. */
export const stretches: Bench = {
  name: "stretches",
  meaning:
    `The longest turn of the server's event loop, in processor time, while sends of the largest size are accepted and delivered to ${RECIPIENTS} recipients: 5 MB of HTML in ASCII, in text beyond it, and in tracked links; 20 MB of attachments. ` +
    "Captured on SQLite, and by SMTP on Postgres.",
  onlyByName: true,
  run: async () => {
    const sink = await startSink();
    const database = await startPostgres();
    try {
      const onSqlite = await measure("stretches", []);
      const smtp = `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}`;
      const onPostgres = await measure("stretches.pg.smtp", ["--database-url", database.url, "--smtp-url", smtp]);
      return [...onSqlite, ...onPostgres];
    } finally {
      await database.dispose();
      await sink.stop();
    }
  },
};

/** Sends of the largest legal size, by name. */
function largestSends(): Record<string, object> {
  const fill = (text: string): string => text.repeat(Math.floor(SEND_LIMITS.content / Buffer.byteLength(text)));
  const file = { filename: "data.bin", content: Buffer.alloc(SEND_LIMITS.attachmentBytes, 7).toString("base64") };
  return {
    ascii: { html: fill("<p>Some text of a mail.</p>\n") },
    unicode: { html: fill("<p>Grüße aus München, 日本語 👋</p>\n") },
    links: { html: fill('<a href="https://acme.dev/a?b=1">x</a>\n'), tracking: { opens: true, clicks: true } },
    files: { text: "The file is attached.", attachments: [file] },
  };
}

async function measure(prefix: string, flags: readonly string[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, content] of Object.entries(largestSends())) {
    const value = await measureOne(content, flags);
    figures.push({ name: `${prefix}.${name}`, value, unit: "ms", against: null, ratio: null, goal: { op: "<=", than: 50 } });
  }
  return figures;
}

/** The longest turn while a send is accepted and delivered, ms. */
async function measureOne(content: object, flags: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const file = join(folder, "stretches.json");
  const server = await mailsvc({ flags, before: ["env", `STRETCHES_FILE=${file}`, `NODE_OPTIONS=--import=${PROBE}`] });
  try {
    // Code that runs for the first time is compiled then.
    await call(server, "POST", "/api/v1/send", { from: FROM, to: "first@mail.acme.dev", subject: "First", html: "<p>First</p>" });
    process.kill(server.pid, "SIGUSR2");
    const to = Array.from({ length: RECIPIENTS }, (_, i) => `reader${i}@mail.acme.dev`);
    await call(server, "POST", "/api/v1/send", { from: FROM, to, subject: "Large", ...content });
    while (await isBusy(server)) await new Promise((next) => setTimeout(next, POLL_MS));
  } finally {
    await server.stop();
  }
  const longest = Math.max(0, ...(JSON.parse(readFileSync(file, "utf8")) as number[]));
  rmSync(folder, { recursive: true });
  return longest;
}

async function isBusy(server: { url: string; apiKey: string }): Promise<boolean> {
  for (const status of ["queued", "sending"]) {
    const { data } = (await call(server, "GET", `/api/v1/emails?status=${status}&limit=1`)) as { data: unknown[] };
    if (data.length > 0) return true;
  }
  return false;
}
