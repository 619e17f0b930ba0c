/** Meanings of states for people: success, in progress, needs attention, failure; `plain` for those that are none of it. */
export type Tone = "good" | "busy" | "warn" | "bad" | "plain";

const STATES: Readonly<Record<Exclude<Tone, "plain">, readonly string[]>> = {
  good: [
    ...["delivered", "sent", "opened", "clicked", "verified", "subscribed", "member", "pass", "ok"],
    ...["active", "enabled", "up", "live", "ready", "published", "listed", "paid", "approved", "answered", "completed"],
  ],
  busy: ["queued", "sending", "scheduled", "rescheduled", "pending", "building", "processing", "running"],
  warn: [
    ...["deferred", "paused", "held", "waiting", "retrying", "frozen", "disabled", "unhandled", "unsubscribed"],
    ...["failing", "softfail", "test", "warn"],
  ],
  bad: [
    ...["bounced", "complained", "suppressed", "failed", "refused", "rejected", "fail", "error"],
    ...["dead", "down", "expired", "revoked"],
  ],
};

const TONES = new Map(Object.entries(STATES).flatMap(([tone, states]) => states.map((state): [string, Tone] => [state, tone as Tone])));

/** The tone of a state of any object, in capitals or not, in which terminals and pages show it. */
export function toneOf(state: string): Tone {
  return TONES.get(state.toLowerCase()) ?? "plain";
}
