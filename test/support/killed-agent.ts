import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createAgent, type Store } from "@mailsvc/agent-kit";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { fileStore } from "@mailsvc/agent-kit/stores/file";
import { postgresStore } from "@mailsvc/agent-kit/stores/postgres";
import { redisStore } from "@mailsvc/agent-kit/stores/redis";
import { sqliteStore } from "@mailsvc/agent-kit/stores/sqlite";
import { Redis } from "ioredis";
import pg from "pg";

/*
 * The agent that agent-kills.test.ts kills: its run uses everything with a name, waits for a wakeup, an approval and the answer to a proposal,
 * and it says what it heard of settings and scopes. AGENT_WEBHOOK_SECRET, AGENT_MASTER_KEY and MAILSVC_URL are read by the kit.
 */
const { PORT = "", STORE = "", STORE_AT = "", LEASE_MS = "" } = process.env;

const open: Readonly<Record<string, () => Store>> = {
  sqlite: () => sqliteStore(new DatabaseSync(STORE_AT)),
  file: () => fileStore(STORE_AT),
  redis: () => redisStore(new Redis(STORE_AT)),
  postgres: () => postgresStore(new pg.Pool({ connectionString: STORE_AT, max: 4 })),
};
const store = open[STORE]?.();
if (store === undefined) throw new Error(`STORE is ${STORE}.`);

const agent = createAgent({ store, leaseMs: Number(LEASE_MS) })
  .on("agent.activated", (ctx) =>
    ctx.run({ title: "Launch" }, async (run) => {
      run.log("begins");
      const page = await run.step("draft", ({ idempotencyKey }) =>
        run.client.landingPages.create({ title: "Launch", html: "<h1>Launch</h1>", runId: run.id }, { idempotencyKey }),
      );
      await run.credits("draft", { amount: 5 });
      await run.checkpoint({ page: page.id });
      await Promise.all(["a", "b", "c"].map((name) => run.step(name, async () => run.log(`part ${name}`))));
      await run.wakeup("sleep", { delaySeconds: 10 });
      const { approved } = await run.approval("publish", {
        title: "Publish the page?",
        text: "It is ready.",
        preview: { kind: "landing_page", id: page.id },
      });
      if (approved)
        await run.step("publish", ({ idempotencyKey }) => run.client.landingPages.publish(page.id, { idempotencyKey }).then(() => null));
      const { decision } = await run.proposeCampaign("announce", {
        text: "Shall we tell everybody?",
        campaign: {
          name: `Launch ${run.activationId}`,
          subject: "We launch {{firstName}}",
          html: `<p>Hello {{firstName}}, é 日本, ${run.activationId}</p>`,
          lists: ctx.event.settings["list"] ? [String(ctx.event.settings["list"])] : [],
        },
      });
      run.log(`the campaign was ${decision}`);
      await run.step("report", ({ idempotencyKey }) =>
        run.client.messages.create({ text: `Reported: ${decision}`, runId: run.id, externalId: idempotencyKey }).then(() => null),
      );
      run.progress(100);
      return { summary: decision };
    }),
  )
  .on("agent.settings_changed", async ({ event, client }) => {
    await client.messages.create({ text: `Settings: ${String(event.settings["tone"])}`, externalId: event.id });
  })
  .on("agent.scopes_changed", async ({ event, client }) => {
    await client.messages.create({ text: `Scopes: ${event.added.join()}`, externalId: event.id });
  })
  // Refused and interrupted calls are tried again.
  .onError(() => {});

createServer(nodeHandler(agent)).listen(Number(PORT), "127.0.0.1", () => {
  agent.start();
  console.log("listening");
});
