import { expect, test, vi } from "vitest";
import { createWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };

test("the clock shows what fires next, and advancing runs it at its own instant", async () => {
  await using world = await createWorld();
  const sent = (await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T01:00:00Z" })) as { id: string };
  await world.settle();
  expect(await world.sdk.clock.show()).toMatchObject({
    now: "2026-01-01T00:00:00.000Z",
    mode: "frozen",
    next: { at: "2026-01-01T01:00:00.000Z", name: "email.deliver" },
    fired: [],
  });
  const moved = await world.sdk.clock.advance({ by: "1h30m" });
  expect(moved).toMatchObject({ now: "2026-01-01T01:30:00.000Z", fired: [{ at: "2026-01-01T01:00:00.000Z", name: "email.deliver" }] });
  expect((await world.sdk.emails.get(sent.id)).sentAt).toBe("2026-01-01T01:00:00.000Z");
});

test("advancing to an instant, and to the next timer", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T05:00:00Z" });
  expect((await world.sdk.clock.advance({ to: "2026-01-01T04:59:59.999Z" })).now).toBe("2026-01-01T04:59:59.999Z");
  expect(await world.inbox.all()).toEqual([]);
  expect(await world.sdk.clock.next()).toMatchObject({ now: "2026-01-01T05:00:00.000Z", fired: [{ name: "email.deliver" }] });
  expect(await world.inbox.all()).toHaveLength(1);
});

test("a frozen clock stops until it is thawed, and stops again when it is frozen", async () => {
  await using world = await createWorld();
  const first = (await world.sdk.clock.show()).now;
  expect((await world.sdk.clock.show()).now).toBe(first);
  expect((await world.sdk.clock.thaw()).mode).toBe("running");
  const frozen = await world.sdk.clock.freeze({});
  expect(frozen.mode).toBe("frozen");
  expect((await world.sdk.clock.show()).now).toBe(frozen.now);
});

test("freezing at a later instant runs what falls due on the way there", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T01:00:00Z" });
  expect((await world.sdk.clock.freeze({ at: "2026-01-01T02:00:00Z" })).now).toBe("2026-01-01T02:00:00.000Z");
  expect(await world.inbox.all()).toHaveLength(1);
});

test("advancing by nothing runs what is due now, and a moment in the past is refused", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send(hello);
  expect((await world.sdk.clock.advance({ by: "0s" })).now).toBe("2026-01-01T00:00:00.000Z");
  expect((await world.sdk.inbox.list()).data).toHaveLength(1);
  await expect(world.sdk.clock.advance({ to: "2025-12-31T23:59:59Z" })).rejects.toThrow("Time only moves forward");
});

test("advancing a running clock by nothing is never a move into the past", async () => {
  await using world = await createWorld();
  await world.sdk.clock.thaw();
  // Each look at the time finds a later one, as it may on a busy machine.
  let now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
  expect((await world.sdk.clock.advance({ by: "0s" })).mode).toBe("running");
});

test("two advances at once run everything that is due once", async () => {
  await using world = await createWorld();
  await world.sdk.emails.send({ ...hello, scheduledAt: "2026-01-01T00:30:00Z" });
  const moves = await Promise.all([world.sdk.clock.advance({ by: "1h" }), world.sdk.clock.advance({ by: "1h" })]);
  expect(moves.flatMap((m) => m.fired)).toHaveLength(1);
  expect(await world.inbox.all()).toHaveLength(1);
});

test("what falls due runs in order, across kinds", async () => {
  await using world = await createWorld();
  for (const [subject, hour] of [
    ["third", "03"],
    ["first", "01"],
    ["second", "02"],
  ])
    await world.sdk.emails.send({ ...hello, subject: subject as string, scheduledAt: `2026-01-01T${hour}:00:00Z` });
  await world.clock.advance("1d");
  const mail = await world.inbox.all();
  expect(mail.map((m) => [m.subject, m.receivedAt.slice(11, 13)])).toEqual([
    ["first", "01"],
    ["second", "02"],
    ["third", "03"],
  ]);
});
