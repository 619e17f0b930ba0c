import type { QueueHold } from "@mailsvc/sdk/contract";
import type { CampaignRow } from "../campaigns/campaigns.ts";
import type { EmailRow } from "../emails/emails.ts";
import { type Action, count, type Findings, joinSentences, quote, sayInstant, toCall } from "../lib/explanation.ts";
import { isTemporary, judgeReply } from "../mail/reply-judge.ts";
import { isSimulatedSuppressed } from "../mail/simulator.ts";
import type { SuppressionRow } from "../suppressions/suppressions.ts";
import { describeSuppression, SKIPPED } from "./suppression.ts";

/** Facts that keep an email from leaving, or have ended it; null for each that does not exist. */
export interface Surroundings {
  readonly pause: { readonly at: number; readonly reason: string | null } | null;
  readonly hold: QueueHold | null;
  readonly mailerFault: string | null;
  readonly campaign: Pick<CampaignRow, "id" | "name" | "status" | "statusReason" | "nextReleaseAt" | "decideAt"> | null;
  readonly suppression: SuppressionRow | null;
}

type Email = Pick<
  EmailRow,
  "id" | "to" | "status" | "attempts" | "inDoubt" | "lastError" | "scheduledAt" | "nextAttemptAt" | "skipReason" | "contactId" | "faults"
>;

type Outcome = Pick<Findings, "summary" | "next" | "actions">;

/** Explains the outcome of an email, its next step and the actions of the reader, by its state and surroundings. */
export function explainOutcome(email: Email, around: Surroundings, now: number): Outcome {
  const attempts = email.attempts > 1 ? `, in attempt ${email.attempts}` : "";
  switch (email.status) {
    case "queued":
    case "deferred":
    case "sending":
      return findObstacle(email, around) ?? describeWait(email, now);
    case "sent":
      return {
        summary: joinSentences(
          `The next mail server took it${attempts}.`,
          inDoubt(email),
          "Whether it reached the mailbox is known once a report about it comes back.",
        ),
        next: { at: null, what: "A bounce or complaint that is reported later changes its status." },
      };
    case "delivered":
      return { summary: joinSentences(`It was delivered${attempts}.`, inDoubt(email)) };
    case "complained":
      return { summary: "It was delivered, and the recipient reported it as spam. The address gets no more mail." };
    case "bounced":
    case "failed":
      return describeRefusal(email, around);
    case "suppressed":
      return describeSuppressed(email, around);
    case "skipped":
      return {
        summary: joinSentences("It was not sent.", email.skipReason === null ? null : SKIPPED[email.skipReason]),
        actions:
          email.contactId === null || email.skipReason === "deleted"
            ? []
            : [{ what: "See what the contact gets", command: `mailsvc why ${email.contactId}` }],
      };
    case "cancelled":
      return { summary: "It was cancelled before it was sent." };
  }
}

/** Finds the obstacle that an email waits for besides time; null for none. */
function findObstacle(email: Email, { pause, hold, campaign, mailerFault }: Surroundings): Outcome | null {
  if (pause !== null)
    return {
      summary: `It waits: all sending is paused since ${sayInstant(pause.at)}${because(pause.reason)}.`,
      next: { at: null, what: "It goes out when sending is resumed." },
      actions: [
        {
          what: "Resume sending, with the operator key",
          command: "mailsvc queue resume",
          call: toCall("Resume sending", "queue.resume", []),
        },
      ],
    };
  if (hold !== null)
    return {
      summary: `It waits: mail to ${hold.domain} is held since ${hold.heldAt}${because(hold.reason)}.`,
      next: { at: null, what: "It goes out when the domain is released." },
      actions: [
        {
          what: "Release the domain, with the operator key",
          command: `mailsvc queue release --domain ${hold.domain}`,
          call: toCall("Release the domain", "queue.release", [], { domain: hold.domain }),
        },
      ],
    };
  if (campaign?.status === "PAUSED")
    return {
      summary: joinSentences("It waits: its campaign is paused.", campaign.statusReason?.message),
      next: { at: null, what: "It goes out when the campaign is resumed." },
      actions: [
        {
          what: "Resume the campaign",
          command: `mailsvc campaigns resume ${campaign.id}`,
          call: toCall("Resume", "campaigns.resume", [campaign.id]),
        },
      ],
    };
  if (campaign?.status === "SENDING" && email.nextAttemptAt === null)
    return {
      summary: "It waits for its turn: the throttle of its campaign or its A/B test lets it go later.",
      next: { at: campaign.nextReleaseAt ?? campaign.decideAt, what: "The campaign releases its next emails." },
      actions: [{ what: "See where the campaign stands", command: `mailsvc why ${campaign.id}` }],
    };
  if (email.faults > 0)
    return {
      summary: `It waits: its delivery failed ${count(email.faults, "time")} for a reason inside the server, whose log has the error.`,
      next: { at: email.nextAttemptAt, what: "It is tried again, 25 times at most." },
    };
  if (mailerFault !== null)
    return {
      summary: joinSentences("It waits.", mailerFault),
      next: { at: null, what: "Delivery is tried once a minute, and goes on when the mail server accepts a recipient." },
      actions: [{ what: "Check the mail server", command: "mailsvc doctor" }],
    };
  return null;
}

/** It waits for nothing but time. */
function describeWait(email: Email, now: number): Outcome {
  const { id, status, attempts, lastError, scheduledAt, nextAttemptAt: at } = email;
  if (status === "sending")
    return {
      summary: `It is being handed over to the mail server, in attempt ${attempts + 1}.`,
      next: { at: null, what: "Its outcome is stored." },
    };
  if (status === "deferred") {
    const refusal = lastError && judgeReply(lastError);
    return {
      summary: joinSentences(
        `It has not been accepted yet, in ${count(attempts, "attempt")}.`,
        refusal?.meaning,
        lastError && `The answer: ${quote(lastError.message)}.`,
        inDoubt(email),
      ),
      next: { at, what: `Attempt ${attempts + 1}. After about two days it is given up as failed.` },
      actions: [
        ...toActions(refusal?.remedy),
        { what: "Try it now", command: `mailsvc emails requeue ${id}`, call: toCall("Try now", "emails.requeue", [id]) },
      ],
    };
  }
  if (scheduledAt !== null && scheduledAt > now)
    return {
      summary: `It is scheduled for ${sayInstant(scheduledAt)}.`,
      next: { at: scheduledAt, what: "It goes out." },
      actions: [{ what: "Do not send it", command: `mailsvc emails cancel ${id}` }],
    };
  return { summary: "It is queued and goes out as soon as its turn comes.", next: { at, what: "It goes out." } };
}

function describeRefusal(email: Email, { suppression }: Surroundings): Outcome {
  const { lastError, status, attempts, to } = email;
  const refusal = lastError && judgeReply(lastError);
  return {
    summary: joinSentences(
      status === "bounced"
        ? lastError && isTemporary(lastError)
          ? "The next mail server could not deliver it and gave it up. It is not tried again."
          : "It was refused for good and is not tried again."
        : attempts === 0
          ? "It could not be made, so it was not sent."
          : `It was given up after ${count(attempts, "attempt")}.`,
      refusal?.meaning,
      lastError && `The answer: ${quote(lastError.message)}.`,
      inDoubt(email),
      suppression && "The address is suppressed now and gets no more mail.",
    ),
    actions: [...toActions(refusal?.remedy), ...(suppression ? [unsuppress(to, suppression)] : [])],
  };
}

function describeSuppressed({ to, skipReason }: Email, { suppression }: Surroundings): Outcome {
  if (skipReason !== null) return { summary: `It was not sent: ${to} opted out of its topic, or never opted in.` };
  return {
    summary: joinSentences(
      `It was not sent: ${to} was suppressed.`,
      suppression
        ? describeSuppression(suppression)
        : isSimulatedSuppressed(to)
          ? "This simulated recipient always is."
          : "The suppression has been removed since.",
    ),
    actions: suppression ? [unsuppress(to, suppression)] : [],
  };
}

function toActions(remedy: string | null | undefined): Action[] {
  return remedy ? [{ what: remedy, command: null }] : [];
}

function unsuppress(address: string, { id }: Pick<SuppressionRow, "id">): Action {
  return {
    what: "Let it get mail again, if you know that it works and wants it",
    command: `mailsvc suppressions remove ${address}`,
    call: toCall("Allow mail again", "suppressions.delete", [id]),
  };
}

function inDoubt(email: Email): string | null {
  return email.inDoubt ? "The answer to one attempt was lost, so that attempt may have arrived too, under the same Message-ID." : null;
}

function because(reason: string | null): string {
  return reason === null ? "" : ` (${quote(reason)})`;
}
