import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { seededRandom } from "../../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "../support/api.ts";
import { startServer } from "../support/server.ts";
import { type DiskEvent, fileAfterCut, readDiskTrace, straceCommand } from "./disk-trace.ts";
import type { Part } from "./part.ts";

const CUTS = 50;
const STEPS = 6;
const CONNECTIONS = 12;
/** Enough that checkpoints move pages from the log into the database meanwhile. */
const BODY = "Words of a mail that is long enough for several pages. ".repeat(300);
const MAILS = 300;
const FILES = ["mailsvc.db", "mailsvc.db-wal"];
const FLAGS = ["--dev", "--rate-limit", "send=1000000"];

/** Answer to a client, and its time. */
interface Acknowledged {
  readonly id: string;
  readonly at: number;
}

/** Three hundred power cuts on SQLite: files are put together again as a disk may have them that lost what was not flushed. */
export const powerCuts: Part = {
  name: "power",
  title: "Power cuts",
  meaning:
    "strace records what a server on SQLite writes and flushes under load. For each cut at a random instant the files are made as a disk may have them: what was flushed, and of the rest no sector, every second one by chance, or all. A server is started on each: every mail that was acknowledged before the cut must be there, each must arrive once, and the database must be whole.",
  steps: (share) => Math.max(1, Math.round(STEPS * share)),
  run: async (step, { seed, share }) => {
    if (!hasStrace()) throw new Error("strace is needed for power cuts: apt-get install strace.");
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-proof-"));
    try {
      const recorded = await record(folder);
      const random = seededRandom(seed).fraction;
      const failures: string[] = [];
      let acknowledged = 0;
      const cuts = share < 1 ? Math.max(5, Math.round(CUTS * share * STEPS)) : CUTS;
      for (let cut = 0; cut < cuts; cut += 1) {
        const at = recorded.from + random() * (recorded.to - recorded.from);
        const share = [0, 0.5, 1][cut % 3] ?? 0;
        const data = join(folder, `cut-${cut}`);
        cpSync(recorded.base, data, { recursive: true });
        makeFiles(recorded, data, at, () => random() < share);
        const before = recorded.acknowledged.filter((mail) => mail.at < at).map(({ id }) => id);
        acknowledged += before.length;
        const wrong = await judge(data, before);
        if (wrong !== null) failures.push(`step ${step}, seed ${seed}, cut ${cut}, ${share * 100} % of unflushed sectors kept: ${wrong}`);
        rmSync(data, { recursive: true, force: true });
      }
      return { counts: { cuts, acknowledged, bad: failures.length }, rows: [], failures };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function hasStrace(): boolean {
  try {
    execFileSync("strace", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

interface Recorded {
  /** The folder before the load. */
  readonly base: string;
  readonly events: readonly DiskEvent[];
  /** Data folder of the traced server. */
  readonly data: string;
  readonly acknowledged: readonly Acknowledged[];
  /** The instants between which mail was sent. */
  readonly from: number;
  readonly to: number;
}

/** Runs a server under strace while mail is sent to it, and kills it. */
async function record(folder: string): Promise<Recorded> {
  const data = join(folder, "data");
  const base = join(folder, "base");
  const first = startServer({ data, flags: FLAGS });
  const ready = await first.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${first.stderr()}`);
  await first.kill("SIGTERM");
  cpSync(data, base, { recursive: true });
  const trace = join(folder, "trace");
  const traced = startServer({ data, flags: FLAGS, before: straceCommand(trace) });
  try {
    const { url = "", apiKey } = (await traced.ready()) ?? {};
    const api = { url, apiKey: apiKey ?? ready.apiKey };
    const from = Date.now();
    const acknowledged = await sendMails(api);
    const to = Date.now();
    // strace ends with what it traces, after it has written its file.
    process.kill(Number(readFileSync(join(data, "server.pid"), "utf8")), "SIGKILL");
    await traced.ended;
    return { base, data, acknowledged, from, to, events: await readDiskTrace(trace) };
  } finally {
    await traced.kill("SIGKILL");
  }
}

async function sendMails(api: Api): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < MAILS) {
      const n = sent++;
      const mail = { from: "Acme <hello@acme.example>", to: `p${n}@reader.example`, subject: `Mail ${n}`, text: `${n} ${BODY}` };
      const { id } = await call<{ id: string }>(api, "POST", "/api/v1/send", mail);
      // The next millisecond: it was acknowledged before that for sure.
      acknowledged.push({ id, at: Date.now() + 1 });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return acknowledged;
}

function makeFiles({ events, data, base }: Recorded, folder: string, at: number, keeps: () => boolean): void {
  mkdirSync(folder, { recursive: true });
  // It only indexes the log, and is not kept over a restart of the machine.
  rmSync(join(folder, "mailsvc.db-shm"), { force: true });
  for (const name of FILES) {
    const file = join(base, name);
    const before = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    const path = join(data, name);
    const content = fileAfterCut(
      before,
      events.filter((event) => event.path === path),
      at,
      keeps,
    );
    if (content === null) rmSync(join(folder, name), { force: true });
    else writeFileSync(join(folder, name), content);
  }
}

/** Starts a server on what a cut has left, and says what is wrong; null for nothing. */
async function judge(data: string, acknowledged: readonly string[]): Promise<string | null> {
  const server = startServer({ data, flags: FLAGS });
  try {
    const ready = await server.ready();
    if (!ready?.apiKey) return `the server did not start: ${server.stderr().slice(-1000)}`;
    const api = { url: ready.url, apiKey: ready.apiKey };
    const open = async (): Promise<number> =>
      (await total(api, "/api/v1/emails?status=queued")) + (await total(api, "/api/v1/emails?status=sending"));
    await until(
      120,
      async () => (await open()) === 0,
      async () => `${await open()} mails are open`,
    );
    const emails = new Set((await all<{ id: string }>(api, "/api/v1/emails")).map(({ id }) => id));
    const missing = acknowledged.filter((id) => !emails.has(id));
    if (missing.length > 0) return `${missing.length} of ${acknowledged.length} acknowledged mails are missing, such as ${missing[0]}`;
    const arrived = (await all<{ emailId: string }>(api, "/__dev/inbox")).map(({ emailId }) => emailId);
    if (new Set(arrived).size !== arrived.length) return `${arrived.length - new Set(arrived).size} mails arrived twice`;
    if (arrived.length !== emails.size) return `${arrived.length} of ${emails.size} mails arrived`;
    const ended = await server.kill("SIGTERM");
    if (ended.code !== 0) return `the server ended with ${JSON.stringify(ended)}`;
    const db = new Database(join(data, "mailsvc.db"), { readonly: true });
    const check = db.pragma("integrity_check", { simple: true });
    db.close();
    return check === "ok" ? null : `integrity_check: ${check}`;
  } catch (error) {
    return String(error);
  } finally {
    await server.kill("SIGKILL");
  }
}
