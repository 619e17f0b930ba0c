import type { Fault, SmtpStep } from "@mailsvc/sdk/contract";
import type { Clock } from "../lib/clock.ts";
import type { FaultRules } from "../lib/fault-rules.ts";
import type { Mailer, OutgoingMail, Receipt } from "./mailer.ts";
import { reply } from "./smtp-listener.ts";
import { failureReceipt, type Phase } from "./smtp-reply.ts";

/** Enhanced code and text of a reply that a rule gives only the code of. */
const USUAL: Readonly<Record<number, readonly [enhancedCode: string, text: string]>> = {
  421: ["4.3.2", "Service not available, closing the connection"],
  450: ["4.2.1", "Mailbox busy, please try again later"],
  451: ["4.7.1", "Greylisted, please try again later"],
  452: ["4.2.2", "Mailbox full"],
  454: ["4.7.0", "Temporary authentication failure"],
  530: ["5.7.0", "Log in first"],
  535: ["5.7.8", "Authentication failed"],
  550: ["5.1.1", "No such user here"],
  551: ["5.1.6", "The user has moved"],
  552: ["5.2.2", "Mailbox full"],
  553: ["5.1.3", "Address not allowed"],
  554: ["5.7.1", "Refused by policy"],
};

/** The steps of a hand-over in their order. */
const STEPS: readonly SmtpStep[] = ["connect", "ehlo", "auth", "mail", "rcpt", "data", "end-of-data"];
const COMMANDS: Partial<Readonly<Record<SmtpStep, string>>> = { mail: "MAIL FROM", rcpt: "RCPT TO", data: "DATA", "end-of-data": "DATA" };

/** Result of a step that a rule has hit: the reply, or null for a connection that is cut; `after` if the step takes effect first. */
interface SmtpFault {
  readonly refused: Error | null;
  readonly after: boolean;
}

/** Lets SMTP conversations fail by the rules of `/__dev/faults`, and by the names of recipients such as `550@example.com`. */
export class SmtpFaults {
  readonly #rules: FaultRules;
  readonly #real: Clock["real"];

  constructor(rules: FaultRules, real: Clock["real"]) {
    this.#rules = rules;
    this.#real = real;
  }

  get any(): boolean {
    return this.#rules.any;
  }

  /** Waits as the rule says that a step of a program's conversation with this server meets. Null if the step goes on. */
  async submission(step: SmtpStep, names: readonly string[]): Promise<SmtpFault | null> {
    const hit = await this.#take("submission", step, names);
    if (hit === null || (!hit.drop && typeof hit.code !== "number")) return null;
    const { code, enhancedCode, text } = toReply(hit);
    return { refused: hit.drop ? null : reply(code, `${enhancedCode} ${text}`), after: hit.when === "after" };
  }

  /** The receipt of a hand-over that a rule or the recipient's name lets fail; null for one that goes on. */
  async delivery({ envelopeFrom, envelopeTo }: OutgoingMail): Promise<Receipt | null> {
    for (const step of STEPS) {
      const hit = this.#rules.any ? await this.#take("delivery", step, [step === "mail" ? envelopeFrom : envelopeTo]) : null;
      if (hit !== null && (hit.drop || typeof hit.code === "number")) return toReceipt(step, hit);
    }
    return null;
  }

  async #take(on: NonNullable<Fault["on"]>, step: SmtpStep, names: readonly string[]): Promise<Fault | null> {
    const hit = this.#rules.take((fault) => fault.smtp === step && (fault.on ?? "submission") === on, names);
    if (hit !== null && hit.delayMs > 0) await this.#real.sleep(hit.delayMs);
    return hit;
  }
}

/** The reply to a recipient whose name is a code, such as `550@example.com` or `452+a@example.com`; null for all others. */
export function refuseByName(address: string): Error | null {
  const named = readCode(address);
  if (named === null) return null;
  const { code, enhancedCode, text } = toReply({ code: named });
  return reply(code, `${enhancedCode} ${text}`);
}

function readCode(address: string): number | null {
  const code = /^([45]\d\d)(?:\+[^@]*)?@[^@]*$/.exec(address)?.[1];
  return code === undefined ? null : Number(code);
}

/** Lets hand-overs fail on purpose, and passes all others on to `mailer`. With `names`, recipients whose name is a code fail too. */
export function failingMailer(mailer: Mailer, faults: SmtpFaults, { names }: { readonly names: boolean }): Mailer {
  const send = async (mail: OutgoingMail): Promise<Receipt> => {
    const code = names ? readCode(mail.envelopeTo) : null;
    if (code !== null) return toReceipt("rcpt", { code });
    return (await faults.delivery(mail)) ?? mailer.send(mail);
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

type Reply = Pick<Fault, "code" | "enhancedCode" | "text"> & { readonly id?: string; readonly drop?: boolean };

function toReply({ code: given, enhancedCode, text, id }: Reply): { code: number; enhancedCode: string; text: string } {
  const code = typeof given === "number" ? given : 451;
  const [usualCode, usualText] = USUAL[code] ?? [code < 500 ? "4.0.0" : "5.0.0", "Refused"];
  return {
    code,
    enhancedCode: enhancedCode ?? usualCode,
    text: text ?? (id === undefined ? usualText : `${usualText} (fault rule ${id})`),
  };
}

function toReceipt(step: SmtpStep, fault: Reply): Receipt {
  const command = COMMANDS[step];
  if (fault.drop) {
    const phase: Phase = step === "end-of-data" ? "answer" : command === undefined ? "session" : "message";
    return failureReceipt({ message: `Fault rule ${fault.id} closed the connection.`, code: "ECONNECTION" }, phase);
  }
  const { code, enhancedCode, text } = toReply(fault);
  const response = `${code} ${enhancedCode} ${text}`;
  const failure = { response, responseCode: code, message: step === "connect" ? "Invalid greeting" : response };
  if (command === undefined) return failureReceipt(failure, "session");
  return failureReceipt({ ...failure, command, code: step === "mail" || step === "rcpt" ? "EENVELOPE" : "EMESSAGE" }, "message");
}
