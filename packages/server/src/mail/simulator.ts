import { addressKey } from "@mailsvc/sdk/contract";
import type { DeliveryError, Mailer, OutgoingMail, Receipt } from "./mailer.ts";

/** The domain of the simulated mailboxes. `.test` never exists (RFC 2606), so no mail can leak. */
export const SIMULATOR_DOMAIN = "simulator.mailsvc.test";

/** The domain of Resend's test mailboxes, which programs written for Resend send to: delivered@, bounced@, complained@ and suppressed@. */
const RESEND_DOMAIN = "resend.dev";

/** The domain of AWS's mailbox simulator. It exists, so mail to it is only answered here where no mail leaves. */
const SES_DOMAIN = "simulator.amazonses.com";

/** An action of a simulated recipient, in ms after delivery. `email.received` is a reply. */
export interface Reaction {
  readonly type: "email.opened" | "email.clicked" | "email.complained" | "email.received";
  readonly afterMs: number;
}

interface SimulatedMailbox {
  readonly name: string;
  /** Result for mail to this mailbox, for the docs. */
  readonly description: string;
  /** Failure of every attempt, or of the first one only; absent if mail is delivered at once. */
  readonly failure?: { readonly receipt: Receipt; readonly firstOnly: boolean };
  /** True if mail is treated as if the address were on the suppression list: it is never handed over. */
  readonly suppressed?: true;
  readonly reactions: readonly Reaction[];
}

const noSuchUser = {
  receipt: { outcome: "bounced", error: error(550, "5.1.1", "No such user here"), invalidRecipient: true },
  firstOnly: false,
} as const;
const opened = { type: "email.opened", afterMs: 2000 } as const;

/** The mailboxes at simulator.mailsvc.test; `+label` may follow the name. */
export const SIMULATOR: readonly SimulatedMailbox[] = [
  { name: "delivered", description: "Delivered.", reactions: [] },
  { name: "opened", description: "Delivered, and opened after 2 s.", reactions: [opened] },
  {
    name: "clicked",
    description: "Delivered, opened after 2 s, and a link clicked after 4 s.",
    reactions: [opened, { type: "email.clicked", afterMs: 4000 }],
  },
  {
    name: "reply",
    description: "Delivered, opened after 2 s, and answered after 6 s if it was sent with `replyTo` `auto`.",
    reactions: [opened, { type: "email.received", afterMs: 6000 }],
  },
  {
    name: "complained",
    description: "Delivered, and reported as spam after 5 s; the address is then suppressed.",
    reactions: [{ type: "email.complained", afterMs: 5000 }],
  },
  {
    name: "delayed",
    description: "Deferred at the first attempt (451 4.7.1), delivered at the second.",
    failure: { receipt: { outcome: "deferred", error: error(451, "4.7.1", "Greylisted, please try again later") }, firstOnly: true },
    reactions: [],
  },
  {
    name: "timeout",
    description: "The connection is lost after the message was written (in doubt), delivered at the second attempt.",
    failure: {
      receipt: {
        outcome: "unknown",
        error: { message: "The connection was lost before the reply came.", smtpCode: null, enhancedCode: null },
      },
      firstOnly: true,
    },
    reactions: [],
  },
  {
    name: "softbounced",
    description: "Deferred at every attempt (452 4.2.2), until the attempts are used up.",
    failure: { receipt: { outcome: "deferred", error: error(452, "4.2.2", "Mailbox full") }, firstOnly: false },
    reactions: [],
  },
  {
    name: "bounced",
    description: "Bounced (550 5.1.1); the address is then suppressed. So is any other name here.",
    failure: noSuchUser,
    reactions: [],
  },
  {
    name: "suppressed",
    description: "Accepted, and ended as `suppressed`, as if the address had been suppressed meanwhile.",
    suppressed: true,
    reactions: [],
  },
];

/** The mailboxes of AWS's simulator, as far as they differ from a delivery. None of them is suppressed afterwards, so tests can be repeated. */
const SES_SIMULATOR: readonly SimulatedMailbox[] = [
  { name: "success", description: "Delivered.", reactions: [] },
  { name: "ooto", description: "Delivered.", reactions: [] },
  { name: "bounce", description: "Bounced (550 5.1.1).", failure: bouncesAlways("No such user here"), reactions: [] },
  {
    name: "complaint",
    description: "Delivered, and reported as spam after 5 s.",
    reactions: [{ type: "email.complained", afterMs: 5000 }],
  },
  {
    name: "suppressionlist",
    description: "Bounced (550 5.1.1), as addresses on the global suppression list are.",
    failure: bouncesAlways("Address is on the suppression list"),
    reactions: [],
  },
];

const UNKNOWN: SimulatedMailbox = { name: "", description: "Bounced.", failure: noSuchUser, reactions: [] };

/** The simulated mailbox of an address; null for a real address. */
function findSimulatedMailbox(address: string): SimulatedMailbox | null {
  const key = addressKey(address);
  const at = key.lastIndexOf("@");
  const domain = key.slice(at + 1);
  const name = key.slice(0, at).replace(/\+.*$/, "");
  const found = SIMULATOR.find((mailbox) => mailbox.name === name);
  if (domain === SES_DOMAIN) return SES_SIMULATOR.find((mailbox) => mailbox.name === name) ?? null;
  return domain === SIMULATOR_DOMAIN ? (found ?? UNKNOWN) : domain === RESEND_DOMAIN ? (found ?? null) : null;
}

/** Reactions of the recipient after delivery, in order of time; empty for a real address. `captured` is true if no mail server had the mail. */
export function listSimulatedReactions(address: string, captured: boolean): readonly Reaction[] {
  return isElsewhere(address, captured) ? [] : (findSimulatedMailbox(address)?.reactions ?? []);
}

/** True for a mailbox of AWS's simulator, if mail leaves the server: AWS answers for it. */
function isElsewhere(address: string, captured: boolean): boolean {
  return !captured && isOfSes(address);
}

/** True for a mailbox of AWS's simulator, which is never suppressed for what it answers. */
export function isOfSes(address: string): boolean {
  return addressKey(address).endsWith(`@${SES_DOMAIN}`);
}

/** True for a simulated mailbox that counts as suppressed in every workspace. */
export function isSimulatedSuppressed(address: string): boolean {
  return findSimulatedMailbox(address)?.suppressed === true;
}

/**
 * Answers for the simulated mailboxes and passes all other mail on to `mailer`. Simulated mail never reaches the network:
 * with the capture mailer it goes into the inbox, otherwise it only counts as delivered.
 */
export function simulator(mailer: Mailer): Mailer {
  const send = async (mail: OutgoingMail): Promise<Receipt> => {
    const mailbox = findSimulatedMailbox(mail.envelopeTo);
    if (mailbox === null || isElsewhere(mail.envelopeTo, mailer.name === "capture")) return mailer.send(mail);
    const { failure } = mailbox;
    if (failure !== undefined && (!failure.firstOnly || mail.attempt === 1)) return failure.receipt;
    return mailer.name === "capture" ? mailer.send(mail) : { outcome: "delivered", response: "250 2.0.0 Delivered by the simulator" };
  };
  return {
    name: mailer.name,
    transactional: mailer.transactional,
    concurrency: mailer.concurrency,
    send,
    check: () => mailer.check(),
    fault: (workspaceId) => mailer.fault(workspaceId),
    close: (graceMs) => mailer.close(graceMs),
  };
}

function bouncesAlways(text: string) {
  return { receipt: { outcome: "bounced", error: error(550, "5.1.1", text) }, firstOnly: false } as const;
}

function error(smtpCode: number, enhancedCode: string, text: string): DeliveryError {
  return {
    message: `${smtpCode} ${enhancedCode} ${text}`,
    smtpCode,
    enhancedCode,
  };
}
