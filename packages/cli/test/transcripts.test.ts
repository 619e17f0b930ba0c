import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { WorldOptions } from "@mailsvc/server/testing";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../server/test/agent-at-work.ts";
import { startReceiver } from "../../server/test/marketplace.ts";
import { type Reaction, receiver } from "../../server/test/receiver.ts";
import { smtpPeer } from "../../server/test/smtp-peer.ts";
import { bundleProgram } from "./bundle.ts";
import { folder } from "./harness.ts";
import { followTranscripts, retell } from "./transcripts.ts";
import { type Beside, startCliWithServer } from "./world.ts";

/*
 * Pages of the documentation show transcripts in which `…` stands for what differs. Each page in `transcripts` shows more of them to the
 * letter, and `vitest run -u` writes them anew: then read the changes as a user at a terminal would.
 */

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
const pages = fileURLToPath(new URL("transcripts/", import.meta.url));
const LIMIT = 180_000;
let program = "";

beforeAll(async () => {
  program = await bundleProgram();
}, LIMIT);

/** The webhook that pages name. */
const WEBHOOK = "http://127.0.0.1:3000/webhook";

test.each(["debugging.md", "listening.md"])("the transcripts of %s are what is printed", async (page) => {
  const { mailsvc, world } = await startCliWithServer();
  // Something has happened already on the pages about events.
  if (page === "listening.md")
    await world.sdk.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" });
  await world.settle();
  await followTranscripts(`${docs}${page}`, { mailsvc, settle: world.settle, standIns: { [WEBHOOK]: await startWebhook(() => 200) } });
});

test.each(readdirSync(pages))("%s is what is printed", { timeout: LIMIT }, async (page) => {
  const { beside, standIns = {} } = await (STAGES[page] ?? emptyStage)();
  const { mailsvc, world } = beside;
  const now = (): number => world.clock.now();
  const told = await retell(`${pages}${page}`, { mailsvc, settle: world.settle, standIns, folder: folder(), program, now });
  await expect(told).toMatchFileSnapshot(`${pages}${page}`);
});

/** State before a transcript begins. */
interface Stage {
  readonly beside: Beside;
  readonly standIns?: Readonly<Record<string, string>>;
}

const emptyStage = async (options: WorldOptions = {}): Promise<Stage> => ({ beside: await startCliWithServer(options) });

const withWebhooks = async (): Promise<Stage> => ({
  ...(await emptyStage()),
  standIns: {
    [WEBHOOK]: await startWebhook(() => 200),
    "http://127.0.0.1:3001/broken": await startWebhook(() => 500),
    "http://127.0.0.1:3002/strict": await startWebhook(() => 401),
  },
});

const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
  "listen.md": withWebhooks,
  "replay.md": withWebhooks,
  "why-webhooks.md": withWebhooks,
  "inbox.md": async () =>
    emptyStage({ flags: { "release-relay": `smtp://127.0.0.1:${await startRelay()}?tls=off`, "release-to": "*@example.com" } }),
  "relays.md": async () => {
    const beside = await startCliWithServer();
    const operator = { MAILSVC_OPERATOR_KEY: beside.world.operatorKey };
    const mailsvc: Beside["mailsvc"] = (argv, setup = {}) => beside.mailsvc(argv, { ...setup, env: { ...setup.env, ...operator } });
    return { beside: { ...beside, mailsvc }, standIns: { "--port 2525": `--port ${await startRelay()}` } };
  },
  "doctor-domain.md": () =>
    emptyStage({
      dns: {
        txt: async (name) => DOMAIN_RECORDS[name] ?? [],
        mx: async (name) => (name === "acme.example" ? [{ priority: 10, exchange: "mail.acme.example" }] : []),
        addresses: async (name) => (name === "mail.acme.example" ? ["93.184.216.34"] : []),
        names: async (address) => (address === "93.184.216.34" ? ["mail.acme.example"] : []),
      },
    }),
  "why-agents.md": async () => {
    const stage = await emptyStage();
    const { world } = stage.beside;
    const hooks = await startReceiver();
    onTestFinished(() => hooks[Symbol.asyncDispose]());
    const agent = await createAgent(world, hooks);
    await agent.client.runs.start({ runId: "march-newsletter", title: "The newsletter of March" });
    await agent.client.runs.fail({
      runId: "march-newsletter",
      error: { code: "no_articles", message: "The feed has no article of March." },
    });
    await world.settle();
    return { ...stage, standIns: { BUILDER_KEY: world.builder.apiKey } };
  },
};

const DOMAIN_RECORDS: Readonly<Record<string, string[]>> = {
  "acme.example": ["v=spf1 ip4:93.184.216.34 -all"],
  "_dmarc.acme.example": ["v=DMARC1; p=reject; rua=mailto:dmarc@acme.example"],
};

async function startWebhook(react: Reaction): Promise<string> {
  const webhook = await receiver(react);
  onTestFinished(() => webhook[Symbol.asyncDispose]());
  return webhook.url;
}

/** A mail server that knows no address which begins with "no". Returns its port. */
async function startRelay(): Promise<number> {
  const relay = await smtpPeer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith("no") ? new Error("No such user") : undefined),
  });
  onTestFinished(() => relay.close());
  return relay.port;
}
