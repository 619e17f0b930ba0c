import type { EventData } from "@mailsvc/sdk/contract";
import type { EventRow } from "../events/events.ts";
import { joinSentences, type Moment, quote } from "../lib/explanation.ts";
import { isTemporary, judgeReply } from "../mail/reply-judge.ts";

type Refused = EventData["email.bounced"];

/** An event of an email, in words. */
export function describeEmailEvent({ type, at, data, machine }: EventRow): Moment {
  const known = data ?? {};
  switch (type) {
    case "email.sent": {
      const { response, attempt, relay } = known as EventData["email.sent"];
      const who = relay === undefined ? "The mail server" : `The relay ${relay}`;
      return { at, what: `${who} took it in attempt ${attempt}`, why: `It answered ${quote(response)}.` };
    }
    case "email.delivered":
      return { at, what: "Delivered", why: toReporter(known) };
    case "email.deferred": {
      const { attempt, inDoubt, relay, ...refused } = known as unknown as EventData["email.deferred"];
      const which =
        attempt === undefined ? "The next mail server has not delivered it yet" : `Attempt ${attempt} was not accepted${atRelay(relay)}`;
      const lost = "The connection was lost after the whole message was written: it is not known whether it arrived.";
      return { at, what: `${which}: ${quote(refused.diagnostic)}`, why: inDoubt ? lost : describe(refused) };
    }
    case "email.bounced":
    case "email.failed": {
      const refused = known as unknown as Refused;
      return {
        at,
        what: `${type === "email.bounced" ? toBounce(refused) : "Given up"}${atRelay(refused.relay)}: ${quote(refused.diagnostic)}`,
        why: describe(refused),
      };
    }
    case "email.rescheduled":
      return { at, what: `Moved to ${(known as EventData["email.rescheduled"]).scheduledAt}` };
    case "email.opened":
      return { at, what: machine ? "Opened by a machine" : "Opened", why: machine ? MACHINE : null };
    case "email.clicked": {
      const { url } = known as EventData["email.clicked"];
      return {
        at,
        what: `${machine ? "Clicked by a machine" : "Clicked"}${url === undefined ? "" : `: ${url}`}`,
        why: machine ? MACHINE : null,
      };
    }
    default:
      return { at, what: OTHERS[type] ?? type, why: toReporter(known) };
  }
}

function toBounce(refused: Refused): string {
  return isTemporary(refused) ? "Given up by the next mail server" : "Refused for good";
}

function atRelay(relay: string | undefined): string {
  return relay === undefined ? "" : ` at the relay ${relay}`;
}

const MACHINE = "A scanner of links or a proxy of images looked at it; it does not count as a reader.";

const OTHERS: Readonly<Record<string, string>> = {
  "email.complained": "The recipient reported it as spam",
  "email.unsubscribed": "The recipient unsubscribed by its link",
  "email.suppressed": "Not sent, because the address is suppressed",
  "email.cancelled": "Cancelled",
  "email.received": "The recipient answered",
};

function describe(refused: Refused): string | null {
  const { diagnostic: message, smtpCode, enhancedCode } = refused;
  const text = joinSentences(judgeReply({ message, smtpCode, enhancedCode })?.meaning, toReporter(refused));
  return text === "" ? null : text;
}

/** Reports that come back later name their source. */
function toReporter({ source }: { readonly source?: unknown }): string | null {
  return typeof source === "string" ? `Reported by ${source}.` : null;
}
