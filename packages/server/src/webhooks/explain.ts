import type { DeliveryAttempt, WebhookDelivery } from "@mailsvc/sdk/contract";
import type { Findings, Moment } from "../lib/explanation.ts";
import { count, joinSentences, quote } from "../lib/explanation.ts";

/** An event on its way to a webhook, of any kind of webhook. */
type Sent = Pick<WebhookDelivery, "state" | "attempts" | "nextAttemptAt" | "waitsFor" | "lastAttempt">;

/** The attempts to deliver an event, in words. */
export function describeAttempts(log: readonly DeliveryAttempt[]): Moment[] {
  return log.map(({ attempt, at, ms, class: outcome, httpStatus, message, hint, answer }) => ({
    at: Date.parse(at),
    what:
      outcome === "ok"
        ? `Attempt ${attempt} arrived: ${httpStatus} after ${ms} ms`
        : `Attempt ${attempt} failed after ${ms} ms: ${message ?? outcome}`,
    why: outcome === "ok" ? null : joinSentences(hint, answer && `The answer: ${quote(answer)}.`),
  }));
}

/** Explains the state of an event and its next step; `idle` is the reason nothing is sent there now, if there is one. */
export function explainDelivery(sent: Sent, idle: string | null): Pick<Findings, "summary" | "next"> {
  const { state, attempts, nextAttemptAt, waitsFor, lastAttempt } = sent;
  const last = lastAttempt === null || lastAttempt.class === "ok" ? null : joinSentences(lastAttempt.message, lastAttempt.hint);
  switch (state) {
    case "delivered":
      return { summary: `It arrived in attempt ${lastAttempt?.attempt ?? attempts}.` };
    case "dead":
      return { summary: joinSentences(`It was given up after ${count(attempts, "attempt")}.`, last) };
    case "superseded":
      return { summary: "It was not sent any more, because a newer event of the activation says more." };
    case "cancelled":
      return { summary: "It was not sent any more, because its activation had ended." };
    case "pending":
    case "queued":
      return {
        summary: joinSentences(
          attempts === 0 ? "It has not been sent yet." : `It has not arrived in ${count(attempts, "attempt")}.`,
          last,
          idle ?? (waitsFor === null ? null : `It waits for the delivery before it: ${waitsFor}.`),
        ),
        next: {
          at: nextAttemptAt === null ? null : Date.parse(nextAttemptAt),
          what: nextAttemptAt === null ? "Nothing is sent for now." : `Attempt ${attempts + 1}.`,
        },
      };
  }
}
