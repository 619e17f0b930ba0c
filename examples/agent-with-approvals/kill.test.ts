import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mailsvc } from "@mailsvc/sdk";
import { beforeAll, expect, test } from "vitest";
import { cleanEnvironment, startServer } from "../../test/dev-server.ts";
import { freePort } from "../../test/support/free-port.ts";
import { PRICE } from "./agent.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const KILLS = Number(process.env["AGENT_KILLS"] ?? 4);
// The calls of the agent, from the start of its run to its completion.
const CALLS = 8;
const SCOPES = ["agent:write_runs", "agent:post_messages", "agent:read_messages", "agent:consume_credits", "landing_pages:write"] as const;

beforeAll(() => void execFileSync(process.execPath, [join(root, "scripts/build.mjs")]));

/** Polls until there is a value, a minute at most. */
async function poll<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let left = 2400; left > 0; left -= 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((wake) => setTimeout(wake, 25));
  }
  throw new Error(`Waited a minute for ${what}.`);
}

/** Moment at which a process is killed: at one of its calls, or this many milliseconds after the activation. */
type Kill = { call: number; when: "before" | "after" } | { ms: number };

/** The n-th kill, so that all points are used in turns. */
function killOf(n: number): Kill {
  if (n % 3 === 2) return { ms: (n * 37) % 400 };
  const point = Math.floor(n / 3) * 2 + (n % 3);
  // Seven is no divisor of the number of points, so neighbours are far apart.
  const place = (point * 7) % (CALLS * 2);
  return { call: 1 + (place >> 1), when: place % 2 === 0 ? "before" : "after" };
}

test(`an agent killed ${KILLS} times in the middle of a run finishes each run, and each of its effects happens once`, async () => {
  await using server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), "agent-kill-"));
  const [brand, builder] = [server.apiKey, server.builderKey].map((apiKey) => new Mailsvc({ apiKey, baseUrl: server.url })) as [
    Mailsvc,
    Mailsvc,
  ];
  const port = await freePort();
  const webhookUrl = `http://127.0.0.1:${port}/`;
  const listing = await builder.listings.create({ slug: "publisher", name: "Publisher", webhookUrl, permissions: [...SCOPES] });
  await builder.payments.confirm((await builder.listings.checkout("publisher")).id);
  await brand.credits.grant({ amount: PRICE * KILLS });

  let said = "";
  const start = async (kill?: Kill): Promise<ChildProcess> => {
    const crash = kill && "call" in kill ? { CRASH_AT: String(kill.call), CRASH_WHEN: kill.when } : {};
    const env = {
      ...cleanEnvironment(),
      ...crash,
      PORT: String(port),
      MAILSVC_URL: server.url,
      AGENT_DATA: join(folder, "agent.db"),
      AGENT_LEASE_MS: "500",
      AGENT_WEBHOOK_SECRET: listing.webhookSecret,
      AGENT_MASTER_KEY: Buffer.alloc(32, 5).toString("base64"),
    };
    const files = ["crash.mjs", "main.ts"].map((file) => fileURLToPath(new URL(file, import.meta.url))) as [string, string];
    const child = spawn(process.execPath, ["--import", files[0], files[1]], { env, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.on("data", (data) => (said += data));
    await new Promise<void>((listening, failed) => {
      child.stdout.once("data", () => listening());
      child.once("exit", () => failed(new Error(`The agent did not start: ${said}`)));
    });
    return child;
  };
  const ended = (child: ChildProcess): Promise<unknown> =>
    child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : new Promise((done) => child.once("exit", done));

  const killed: string[] = [];
  try {
    for (let n = 0; n < KILLS; n += 1) {
      const kill = killOf(n);
      let agent = await start(kill);
      const { id } = await brand.activations.create({ agentSlug: "publisher", acceptedPermissions: [...SCOPES] });
      if ("ms" in kill) setTimeout(() => agent.kill("SIGKILL"), kill.ms);
      // The brand approves as soon as it is asked; a process that was killed is started again.
      const run = await poll(`the end of run ${n}, ${JSON.stringify(kill)}: ${said}`, async () => {
        if (agent.signalCode === "SIGKILL") {
          killed.push(JSON.stringify(kill));
          agent = await start();
        }
        for (const request of (await brand.approvals.list({ activationId: id })).data)
          await brand.messages.answer(request.id, { decision: "approve" });
        return (await brand.runs.list(id)).data.find(({ status }) => status !== "RUNNING" && status !== "WAITING");
      });
      expect(run, JSON.stringify(kill)).toMatchObject({ status: "COMPLETED", summary: "Published.", creditsConsumed: PRICE });
      expect((await brand.runs.list(id)).data, JSON.stringify(kill)).toHaveLength(1);
      const types = (await brand.messages.list(id).toArray()).map(({ type }) => type).sort();
      expect(types, JSON.stringify(kill)).toEqual(["APPROVAL_REQUEST", "APPROVAL_RESPONSE", "TEXT"]);
      expect((await brand.landingPages.list()).pagination.total).toBe(n + 1);
      await brand.activations.deactivate(id);
      agent.kill("SIGKILL");
      await ended(agent);
    }
    // A kill that was planned after the end of a run found nothing to interrupt.
    expect(killed.length).toBeGreaterThanOrEqual(Math.floor(KILLS / 2));
    expect((await brand.credits.get()).balance).toBe(0);
    expect((await brand.landingPages.list({ status: "PUBLISHED" })).pagination.total).toBe(KILLS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 1_200_000);
