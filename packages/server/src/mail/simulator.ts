import { addressKey } from "@mailsvc/sdk/contract";
import type { DeliveryError, Mailer, OutgoingMail, Receipt } from "./mailer.ts";

/** The domain whose mailboxes play a part; `.test` never exists (RFC 2606), so nothing can leak to anybody. */
export const SIMULATOR_DOMAIN = "simulator.mailsvc.test";

/** What a recipient does later, in ms after delivery. */
export interface Reaction {
  readonly type: "email.opened" | "email.clicked" | "email.complained";
  readonly afterMs: number;
}

export interface SimulatorMailbox {
  readonly name: string;
  /** What happens, for the docs. */
  readonly what: string;
  /** How every attempt fails, or the first one only; absent when the mail is delivered at once. */
  readonly failure?: { readonly outcome: "deferred" | "bounced" | "unknown"; readonly error: DeliveryError; readonly firstOnly: boolean };
  readonly reactions: readonly Reaction[];
}

const noSuchUser = { outcome: "bounced", error: error(550, "5.1.1", "No such user here"), firstOnly: false } as const;
const opened = { type: "email.opened", afterMs: 2000 } as const;

/** The mailboxes at simulator.mailsvc.test; `+label` may follow the name. */
export const SIMULATOR: readonly SimulatorMailbox[] = [
  { name: "delivered", what: "Delivered.", reactions: [] },
  { name: "opened", what: "Delivered, and opened after 2 s.", reactions: [opened] },
  {
    name: "clicked",
    what: "Delivered, opened after 2 s, and a link clicked after 4 s.",
    reactions: [opened, { type: "email.clicked", afterMs: 4000 }],
  },
  {
    name: "complained",
    what: "Delivered, and reported as spam after 5 s; the address is then suppressed.",
    reactions: [{ type: "email.complained", afterMs: 5000 }],
  },
  {
    name: "delayed",
    what: "Deferred at the first attempt (451 4.7.1), delivered at the second.",
    failure: { outcome: "deferred", error: error(451, "4.7.1", "Greylisted, please try again later"), firstOnly: true },
    reactions: [],
  },
  {
    name: "timeout",
    what: "The connection is lost after the message was written (in doubt), delivered at the second attempt.",
    failure: {
      outcome: "unknown",
      error: { message: "The connection was lost before the answer came.", smtpCode: null, enhancedCode: null },
      firstOnly: true,
    },
    reactions: [],
  },
  {
    name: "softbounced",
    what: "Deferred at every attempt (452 4.2.2), until the attempts are used up.",
    failure: { outcome: "deferred", error: error(452, "4.2.2", "Mailbox full"), firstOnly: false },
    reactions: [],
  },
  {
    name: "bounced",
    what: "Bounced (550 5.1.1); the address is then suppressed. So is any other name here.",
    failure: noSuchUser,
    reactions: [],
  },
];

const UNKNOWN: SimulatorMailbox = { name: "", what: "Bounced.", failure: noSuchUser, reactions: [] };

/** The simulator's mailbox behind an address, or null when it is an address of the real world. */
export function simulatorMailbox(address: string): SimulatorMailbox | null {
  const key = addressKey(address);
  const at = key.lastIndexOf("@");
  if (key.slice(at + 1) !== SIMULATOR_DOMAIN) return null;
  const name = key.slice(0, at).replace(/\+.*$/, "");
  return SIMULATOR.find((mailbox) => mailbox.name === name) ?? UNKNOWN;
}

/** What the recipient does after delivery, in order of time; nothing for addresses of the real world. */
export function simulatedReactions(address: string): readonly Reaction[] {
  return simulatorMailbox(address)?.reactions ?? [];
}

/**
 * Puts the simulator before a mailer. Its mailboxes never reach the network: what they accept goes into the inbox when
 * the mailer is `capture`, and is just delivered otherwise. All other mail passes.
 */
export function simulator(mailer: Mailer): Mailer {
  const send = async (mail: OutgoingMail): Promise<Receipt> => {
    const mailbox = simulatorMailbox(mail.envelopeTo);
    if (mailbox === null) return mailer.send(mail);
    const { failure } = mailbox;
    if (failure !== undefined && (!failure.firstOnly || mail.attempt === 1)) return { outcome: failure.outcome, error: failure.error };
    return mailer.name === "capture" ? mailer.send(mail) : { outcome: "delivered", response: "250 2.0.0 Delivered by the simulator" };
  };
  return {
    name: mailer.name,
    transactional: mailer.transactional,
    concurrency: mailer.concurrency,
    send,
    check: () => mailer.check(),
    close: () => mailer.close(),
  };
}

function error(smtpCode: number, enhancedCode: string, text: string): DeliveryError {
  return {
    message: `${smtpCode} ${enhancedCode} ${text}`,
    smtpCode,
    enhancedCode,
  };
}
