import type { Mailer, OutgoingMail, Receipt } from "../../packages/server/src/mail/mailer.ts";
import type { Ledger } from "./ledger.ts";
import { kindOf, MARKS, TENANTS } from "./script.ts";

/** Present behaviour of a world's mail server, besides that of each address. */
type PeerMode = "up" | "dead" | "slow" | "refusing";

const TAKEN: Receipt = { outcome: "sent", response: "250 2.0.0 OK" };

/** A mail that has arrived, as its reader sees it. */
export type ArrivedMail = Pick<OutgoingMail, "html" | "text" | "headers"> & {
  readonly workspaceId: string;
  readonly emailId: string | null;
  readonly to: string;
};

// Readers look at their last mails.
const KEPT_MAILS = 60;

/** The mail server behind the service. It belongs to the world, not to a server of it: servers die, and it stays. */
export class MailPeer {
  mode: PeerMode = "up";
  /** The last mails that it took. */
  arrived: readonly ArrivedMail[] = [];
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The mailer of one server for a relay. Once `isDead`, it never answers again, as a process that is gone never acts again. */
  mailerFor(isDead: () => boolean, relay: string | null): Mailer {
    return {
      name: "smtp",
      transactional: false,
      concurrency: 8,
      send: async (mail) => {
        if (isDead()) return new Promise<never>(() => {});
        if (this.mode === "slow") await new Promise((done) => setTimeout(done, 2));
        if (mail.isStillWanted && !(await mail.isStillWanted())) return failure("deferred", null, null, "It is not wanted any more.");
        if (isDead()) return new Promise<never>(() => {});
        const receipt = this.#answer(mail);
        const { html, text, headers } = mail;
        const [to, workspaceId, emailId] = [mail.envelopeTo.toLowerCase(), mail.origin?.workspaceId ?? "", mail.origin?.emailId ?? null];
        if (receipt.outcome === "sent")
          this.arrived = [...this.arrived, { to, workspaceId, emailId, html, text, headers }].slice(-KEPT_MAILS);
        this.#ledger.handOver({
          workspaceId,
          emailId,
          to,
          relay,
          messageId: mail.messageId,
          says: [html, text].map((part) => /Says [\w-]+ [A-E]/.exec(part ?? "")?.[0] ?? null),
          greeted: /Dear P(\d+) /.exec(`${html} ${text}`)?.[1] ?? null,
          hasWayOut: Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "list-unsubscribe"),
          words: TENANTS.filter((tenant) => `${mail.subject} ${mail.html} ${mail.text}`.includes(MARKS[tenant])),
          taken: receipt.outcome === "sent" || receipt.outcome === "unknown",
        });
        return receipt;
      },
      check: async () => (this.mode === "dead" ? "connect ECONNREFUSED" : null),
      fault: () => null,
      close: async () => {},
    };
  }

  #answer({ envelopeTo, attempt }: OutgoingMail): Receipt {
    if (this.mode === "dead") return { ...failure("deferred", null, null, "connect ECONNREFUSED"), unavailable: true };
    if (this.mode === "refusing") return failure("deferred", 451, "4.3.0", "451 4.3.0 Try again later");
    switch (kindOf(envelopeTo)) {
      case "fine":
        return TAKEN;
      case "gone":
        return { ...failure("bounced", 550, "5.1.1", "550 5.1.1 No such user here"), invalidRecipient: true };
      case "full":
        return failure("deferred", 452, "4.2.2", "452 4.2.2 Mailbox full");
      case "later":
        return attempt < 3 ? failure("deferred", 451, "4.7.1", "451 4.7.1 Greylisted") : TAKEN;
      case "strict":
        return failure("bounced", 550, "5.7.1", "550 5.7.1 Message content rejected");
      case "vague":
        return attempt < 2 ? failure("unknown", null, null, "The connection was lost before the answer came.") : TAKEN;
    }
  }
}

function failure<O extends "deferred" | "bounced" | "unknown">(
  outcome: O,
  smtpCode: number | null,
  enhancedCode: string | null,
  message: string,
) {
  return { outcome, error: { message, smtpCode, enhancedCode } };
}
