import { onTestFinished, test } from "vitest";
import { createWorld } from "../../src/testing/world.ts";
import { startPostgres } from "../postgres-server.ts";
import { smtpPeer } from "../smtp-peer.ts";
import { checkCosts } from "./cost.ts";
import { meterPostgres } from "./postgres-meter.ts";

// A server without other work: its log is that of all its databases.
test("a captured mail, and one by SMTP, cost what docs/scaling.md says", { timeout: 120_000 }, async () => {
  const server = await startPostgres();
  try {
    const peer = await smtpPeer();
    onTestFinished(() => peer.close());
    for (const [way, flags] of [
      ["captured", {}],
      ["by SMTP", { "smtp-url": `smtp://127.0.0.1:${peer.port}` }],
    ] as const) {
      using meter = meterPostgres(server.url);
      await using world = await createWorld({ databaseUrl: server.url, flags });
      await checkCosts(world, meter, "Postgres", way);
    }
  } finally {
    await server.dispose();
  }
});
