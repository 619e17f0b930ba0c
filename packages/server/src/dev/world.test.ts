import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

describe("snapshots", () => {
  test("restoring puts data, inbox, waiting jobs and the clock back", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send(hello);
    const later = (await world.sdk.emails.send({ ...hello, subject: "Later", scheduledAt: "2026-01-02T00:00:00Z" })) as { id: string };
    await world.settle();
    const before = world.clock.now();
    expect(await world.sdk.world.snapshot({ name: "before" })).toMatchObject({ name: "before", size: expect.any(Number) });

    await world.clock.advance("3d");
    await world.sdk.emails.send({ ...hello, subject: "Never was" });
    expect(await world.inbox.all()).toHaveLength(3);

    await world.sdk.world.restore({ name: "before" });
    expect(world.clock.now()).toBe(before);
    expect((await world.inbox.all()).map((m) => m.subject)).toEqual(["Hello"]);
    expect((await world.sdk.emails.get(later.id)).status).toBe("queued");
    await world.clock.advance("1d");
    expect((await world.inbox.all()).map((m) => m.subject)).toEqual(["Hello", "Later"]);
  });

  test("restoring the same snapshot twice gives the same results twice", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send({ ...hello, to: "clicked@simulator.mailsvc.test" });
    await world.sdk.world.snapshot({ name: "s" });
    const story = async () => {
      await world.sdk.world.restore({ name: "s" });
      await world.clock.advance("1m");
      const [email] = (await world.sdk.emails.list()).data;
      return (await world.sdk.emails.get(email?.id ?? "")).events.map((e) => [e.type, e.at, e.id]);
    };
    const first = await story();
    expect(first.map(([type]) => type)).toContain("email.clicked");
    expect(await story()).toEqual(first);
  });

  test("keys are restored with the snapshot, cached ones too", async () => {
    await using world = await createWorld();
    const kept = await world.sdk.keys.create({ name: "kept", permissions: ["keys:read"] });
    await world.sdk.world.snapshot({ name: "s" });
    await world.sdk.keys.revoke(kept.id);
    const late = await world.sdk.keys.create({ name: "late", permissions: ["keys:read"] });
    const me = async (key: string) => (await ask(world, { method: "GET", path: "/api/v1/me", key })).status;
    expect([await me(kept.key), await me(late.key)]).toEqual([401, 200]);
    await world.sdk.world.restore({ name: "s" });
    expect([await me(kept.key), await me(late.key)]).toEqual([200, 401]);
  });

  test("a snapshot of the same name replaces the older one; all are listed", async () => {
    await using world = await createWorld();
    await world.sdk.world.snapshot({ name: "a" });
    await world.sdk.emails.send(hello);
    await world.settle();
    await world.sdk.world.snapshot({ name: "a" });
    await world.sdk.world.snapshot({ name: "b" });
    expect((await world.sdk.world.snapshots()).data.map((s) => s.name).sort()).toEqual(["a", "b"]);
    await world.sdk.world.reset();
    await world.sdk.world.restore({ name: "a" });
    expect(await world.inbox.all()).toHaveLength(1);
  });

  test("ids made after a restore never repeat those made before it", async () => {
    await using world = await createWorld();
    await world.sdk.world.snapshot({ name: "s" });
    const before = (await world.sdk.emails.send(hello)) as { id: string };
    await world.sdk.world.restore({ name: "s" });
    const after = (await world.sdk.emails.send(hello)) as { id: string };
    expect(after.id > before.id).toBe(true);
  });
});

describe("reset", () => {
  test("keeps the seeded workspace and its key, and nothing else", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send(hello);
    await world.sdk.suppressions.create({ email: "x@example.com" });
    await world.sdk.senders.create({ domain: "acme.example" });
    await world.sdk.keys.create({ name: "extra", permissions: ["keys:read"] });
    const other = await secondWorkspace(world);
    await world.clock.advance("3d");
    expect(await world.sdk.world.reset()).toEqual({ reset: true });

    const me = await world.sdk.me.get();
    expect(me.workspace.id).toBe(world.workspaceId);
    expect(me.server.now).toBe("2026-01-01T00:00:00.000Z");
    for (const list of [world.sdk.emails.list(), world.sdk.suppressions.list(), world.sdk.senders.list(), world.sdk.inbox.list()])
      expect((await list).pagination.total).toBe(0);
    expect((await world.sdk.keys.list()).data).toMatchObject([{ owner: true }]);
    expect((await ask(world, { method: "GET", path: "/api/v1/me", key: other.apiKey })).status).toBe(401);
  });

  test("lets the numbers of events go on, so that programs which follow them see those after it", async () => {
    await using world = await createWorld();
    const numbers = async (): Promise<number[]> =>
      (await world.sdk.events.list()).data.map(({ sequence }) => sequence).toSorted((a, b) => a - b);
    await world.sdk.emails.send(hello);
    await world.settle();
    const before = await numbers();
    const last = before.at(-1) ?? 0;
    expect(last).toBeGreaterThan(1);
    await world.sdk.world.snapshot({ name: "s" });
    const follow = async (): Promise<number> => {
      for await (const { sequence } of world.sdk.events.tail({ from: last + 1 })) return sequence;
      return 0;
    };
    await world.sdk.world.reset();
    await world.sdk.emails.send(hello);
    expect(await follow()).toBe(last + 1);
    await world.settle();
    expect(await numbers()).toEqual(before.map((n) => n + last));
    await world.sdk.world.restore({ name: "s" });
    expect(await numbers()).toEqual(before);
    await world.sdk.emails.send(hello);
    await world.settle();
    expect((await numbers()).slice(before.length)).toEqual(before.map((n) => n + 2 * last));
  });

  test("takes waiting mail, fault rules and used-up rates with it; the workers go on", async () => {
    await using world = await createWorld({ flags: { "rate-limit": "send=1/s" } });
    await world.sdk.faults.add({ path: "/api/v1/suppressions", code: "internal_error" });
    await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-02T00:00:00Z" });
    await world.sdk.world.reset();
    expect((await world.sdk.faults.list()).data).toEqual([]);
    expect((await ask(world, { path: "/api/v1/send", body: { ...hello, subject: "After" } })).status).toBe(200);
    await world.clock.advance("2d");
    expect((await world.inbox.all()).map((m) => m.subject)).toEqual(["After"]);
  });

  test("a clock that was let run stands again where it began", async () => {
    await using world = await createWorld();
    await world.sdk.clock.thaw();
    await world.sdk.clock.advance({ by: "30d" });
    await world.sdk.world.reset();
    expect(await world.sdk.clock.show()).toMatchObject({ now: "2026-01-01T00:00:00.000Z", mode: "frozen" });
  });
});
