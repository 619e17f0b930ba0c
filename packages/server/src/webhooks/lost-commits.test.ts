import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { hook } from "../../test/hook.ts";
import { loseAnswer } from "../../test/lose-answer.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { createWorld } from "../testing.ts";

test.each([
  ["an event that arrived", [200], "delivered"],
  ["a first attempt that failed", [500, 200], "pending"],
  ["a second attempt that failed", [500, 500, 200], "pending"],
] as const)(
  "when the answer to the commit is lost that records %s, its attempt is recorded once, and nothing is sent again",
  async (_what, statuses, state) => {
    await using hooks = await hook((n) => statuses[n] ?? 500);
    await using world = await createWorld();
    await listAgent(world.builder.sdk, hooks.url);
    const list = async () => (await world.builder.sdk.deliveries.list("writer")).data;
    const recorded = Math.max(1, statuses.length - 1);
    const lost = loseAnswer(world, async (q) => {
      const { webhookEvents: e } = q.t;
      return (await q.$count(e, and(eq(e.lastAttempt, recorded), eq(e.state, state)))) > 0;
    });
    await activateAgent(world.sdk);
    await world.settle();
    await world.clock.advance("1d");
    expect(lost.isLost).toBe(true);
    expect(hooks.calls.map(({ headers }) => headers["x-service-attempt"])).toEqual(statuses.map((_, i) => String(i + 1)));
    const [delivery] = await list();
    expect(delivery).toMatchObject({ state: "delivered", attempts: statuses.length });
    const { log } = await world.builder.sdk.deliveries.get("writer", String(delivery?.id));
    expect(log.map(({ attempt, httpStatus }) => [attempt, httpStatus])).toEqual(statuses.map((status, i) => [i + 1, status]));
  },
);
