import { TIMER_LABELS } from "@mailsvc/sdk/contract/timer-labels";
import { expect, test } from "vitest";
import { jobsOf } from "./features.ts";
import { createWorld } from "./testing.ts";

test("every kind of job is said in words, and no other one", async () => {
  const world = await createWorld();
  try {
    // Deliveries of webhooks, checks of relays and readers of events have a timer, and no job.
    expect(Object.keys(TIMER_LABELS).toSorted()).toEqual(
      [...Object.keys(jobsOf(world.app.deps)), "agent.deliver", "relays.check", "events.reader"].toSorted(),
    );
  } finally {
    await world.dispose();
  }
});
