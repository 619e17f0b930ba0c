/** @jsxImportSource preact */

// The tone of each state: success, in progress, needs attention, failure. All others are neutral.
const TONES: Readonly<Record<string, string>> = {
  ...of(
    "good",
    "delivered",
    "sent",
    "opened",
    "clicked",
    "active",
    "verified",
    "completed",
    "ok",
    "published",
    "enabled",
    "approved",
    "listed",
    "paid",
    "up",
    "live",
    "subscribed",
    "member",
  ),
  ...of("busy", "queued", "sending", "scheduled", "pending", "running", "processing", "rescheduled", "ready"),
  ...of("warn", "warn", "deferred", "paused", "held", "waiting", "retrying", "disabled", "unhandled", "test", "unsubscribed"),
  ...of("bad", "bounced", "complained", "failed", "suppressed", "dead", "revoked", "rejected", "refused", "expired", "down", "fail"),
};

// States whose names in the API say little to people.
const WORDS: Readonly<Record<string, string>> = { dead: "given up", superseded: "replaced" };

/** The word for a state. */
export function sayStatus(status: string): string {
  const word = status.toLowerCase();
  return WORDS[word] ?? word.replaceAll("_", " ");
}

/** A state, as a word with a color. See \`parts/states.tsx\` for objects whose state is more than one field. */
export function Status({ status, text = sayStatus(status) }: { readonly status: string; readonly text?: string }) {
  return <span class={`status ${toTone(status)}`}>{text}</span>;
}

/** The tone of a state: good, busy, warn, bad or plain. */
export function toTone(status: string): string {
  return TONES[status.toLowerCase()] ?? "plain";
}

function of(tone: string, ...states: readonly string[]): Record<string, string> {
  return Object.fromEntries(states.map((state) => [state, tone]));
}
