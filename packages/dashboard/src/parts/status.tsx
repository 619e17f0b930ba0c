/** @jsxImportSource preact */

// The tone of each state: success, in progress, needs attention, failure. All others are neutral.
const TONES: Readonly<Record<string, string>> = {
  ...of("good", "delivered", "sent", "opened", "clicked", "active", "verified", "completed", "ok", "published", "enabled", "approved"),
  ...of("busy", "queued", "sending", "scheduled", "pending", "running", "processing", "rescheduled"),
  ...of("warn", "deferred", "paused", "held", "waiting", "retrying", "disabled"),
  ...of("bad", "bounced", "complained", "failed", "suppressed", "dead", "revoked", "rejected", "expired"),
};

/** A state, as a word with a color. */
export function Status({ status }: { readonly status: string }) {
  return <span class={`status ${TONES[status] ?? "plain"}`}>{status.replaceAll("_", " ")}</span>;
}

/** The tone of a state: good, busy, warn, bad or plain. */
export function toTone(status: string): string {
  return TONES[status] ?? "plain";
}

function of(tone: string, ...states: readonly string[]): Record<string, string> {
  return Object.fromEntries(states.map((state) => [state, tone]));
}
