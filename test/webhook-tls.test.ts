import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { makeAuthority } from "../packages/server/test/certificates.ts";
import { hook } from "../packages/server/test/hook.ts";
import { startServer } from "./support/server.ts";

test("a server trusts an authority of one's own when NODE_EXTRA_CA_CERTS names it, and not otherwise", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-webhook-tls-"));
  const authority = makeAuthority();
  try {
    await using hooks = await hook(() => 200, authority.issue(["localhost"]));
    const test = async (before: readonly string[]) => {
      const server = startServer({ data: join(folder, "data"), flags: ["--dev"], before: ["env", ...before] });
      const ready = await server.ready();
      if (!ready) throw new Error(server.stderr());
      const sdk = new Mailsvc({ baseUrl: ready.url, apiKey: ready.apiKey ?? "" });
      const listed = { slug: "agent", name: "Agent", webhookUrl: `https://localhost:${hooks.port}/`, permissions: [] };
      await sdk.listings.create(listed).catch(() => {});
      const told = await sdk.deliveries.test("agent");
      await server.kill("SIGTERM");
      return told;
    };
    expect(await test(["-u", "NODE_EXTRA_CA_CERTS"])).toMatchObject({ ok: false, class: "tls" });
    expect(hooks.calls).toEqual([]);
    expect(await test([`NODE_EXTRA_CA_CERTS=${authority.file}`])).toMatchObject({ ok: true, class: "ok" });
    expect(hooks.calls).toHaveLength(1);
  } finally {
    authority.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
});
