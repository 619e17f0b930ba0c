import type { SmtpPort } from "@mailsvc/sdk/contract";
import type { SmtpListener } from "../mail/smtp-listener.ts";

type Listener = Pick<SmtpListener, "port" | "isFull">;

/** The ports at which this process takes mail over SMTP, for those who ask whether it does. */
export class SubmissionPorts {
  readonly #open = new Map<Listener, SmtpPort["tls"]>();

  add(listener: Listener, tls: SmtpPort["tls"]): void {
    this.#open.set(listener, tls);
  }

  remove(listener: Listener): void {
    this.#open.delete(listener);
  }

  list(): SmtpPort[] {
    return [...this.#open].map(([listener, tls]) => ({ port: listener.port, tls, full: listener.isFull() }));
  }
}
