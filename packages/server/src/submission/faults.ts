import { once } from "node:events";
import type { Readable } from "node:stream";
import type { SmtpStep } from "@mailsvc/sdk/contract";
import type { SMTPServerSession } from "smtp-server";
import type { SmtpFaults } from "../mail/smtp-fault-injection.ts";

/** A step of a conversation, and the addresses by which rules pick it. */
interface Meeting {
  readonly step: SmtpStep;
  readonly names: readonly string[];
  readonly session: SMTPServerSession;
}

/** The failures that a developer has asked for, at the port where programs submit mail. */
export class PlannedFaults {
  readonly #faults: SmtpFaults | null;
  readonly #drop: (sessionId: string) => void;

  constructor(faults: SmtpFaults | null, drop: (sessionId: string) => void) {
    this.#faults = faults;
    this.#drop = drop;
  }

  /** Calls `go` with the reply that refuses a step, or with null: at once where there are no rules. Cuts the connection instead if one says so. */
  meet({ step, names, session }: Meeting, go: (refused: Error | null) => void): void {
    if (!this.#faults?.any) {
      go(null);
      return;
    }
    this.#faults.submission(step, names).then(
      (fault) => {
        if (fault !== null && fault.refused === null) this.#drop(session.id);
        else go(fault?.refused ?? null);
      },
      () => go(null),
    );
  }

  /** Runs `receive` and passes on its answer, unless a rule refuses the message: before it is received, or afterwards. */
  async receive<Answer>(stream: Readable, session: SMTPServerSession, receive: () => Promise<Answer>): Promise<Answer | Error> {
    if (!this.#faults?.any) return receive();
    const names = session.envelope.rcptTo.map(({ address }) => address);
    const fault = await this.#faults.submission("end-of-data", names);
    if (fault === null) return receive();
    const answer = fault.after ? await receive() : null;
    if (answer instanceof Error) return answer;
    if (!fault.after && !stream.readableEnded) {
      stream.resume();
      await once(stream, "end");
    }
    if (fault.refused !== null) return fault.refused;
    this.#drop(session.id);
    // The connection is gone: nobody reads an answer.
    return new Promise<never>(() => {});
  }
}
