import type { Style } from "../types.ts";

const GOOD = new Set(["delivered", "sent", "VERIFIED", "SUBSCRIBED", "ok", "ready", "running", "MEMBER", "READY", "SENT"]);
const BAD = new Set(["bounced", "complained", "failed", "suppressed", "BOUNCED", "COMPLAINED", "dead", "fail"]);
const WAITING = new Set([
  "queued",
  "sending",
  "deferred",
  "PENDING",
  "SENDING",
  "SCHEDULED",
  "PAUSED",
  "BUILDING",
  "frozen",
  "warn",
  "unhandled",
]);

/** Paints a status by its meaning. */
export function paintStatus(style: Style, status: string): string {
  if (GOOD.has(status)) return style.green(status);
  if (BAD.has(status)) return style.red(status);
  return WAITING.has(status) ? style.yellow(status) : status;
}

const WORK_STATES = {
  good: new Set(["RUNNING", "COMPLETED", "APPROVED", "ANSWERED"]),
  bad: new Set(["FAILED", "REJECTED", "EXPIRED", "error"]),
  waiting: new Set(["WAITING", "PENDING", "warn"]),
};

/** Paints the state of a run or message; the first word of the text decides. */
export function paintWork(style: Style, text: string): string {
  const word = text.split(/[: ]/)[0] ?? text;
  if (WORK_STATES.good.has(word)) return style.green(text);
  if (WORK_STATES.bad.has(word)) return style.red(text);
  return WORK_STATES.waiting.has(word) ? style.yellow(text) : text;
}

const ACTIVE = new Set(["LISTED", "PAID", "active"]);
const PENDING = new Set(["DRAFT", "PENDING", "paused"]);

/** Paints the state of a listing, payment or activation; ended ones are dim. */
export function paintState(style: Style, text: string): string {
  const word = text.split(":")[0] ?? text;
  return ACTIVE.has(word) ? style.green(text) : PENDING.has(word) ? style.yellow(text) : style.dim(text);
}

export function dim(style: Style, text: string): string {
  return style.dim(text);
}
