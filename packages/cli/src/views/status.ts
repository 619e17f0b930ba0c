import type { Style } from "../tty.ts";

const GOOD = new Set(["delivered", "sent", "VERIFIED", "SUBSCRIBED", "ok", "ready", "running", "MEMBER", "READY"]);
const BAD = new Set(["bounced", "complained", "failed", "suppressed", "BOUNCED", "COMPLAINED", "dead", "fail"]);
const WAITING = new Set(["queued", "sending", "deferred", "PENDING", "BUILDING", "frozen", "warn"]);

/** A state in the colour of what it means. */
export const statusColor = (style: Style, status: string): string => {
  if (GOOD.has(status)) return style.green(status);
  if (BAD.has(status)) return style.red(status);
  return WAITING.has(status) ? style.yellow(status) : status;
};
