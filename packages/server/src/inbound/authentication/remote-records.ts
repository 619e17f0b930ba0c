import type { DomainRecords } from "../../lib/domain-records.ts";
import type { FromThread, ToThread } from "./mail-authenticator.ts";

interface Waiting {
  resolve(records: unknown[]): void;
  reject(error: Error): void;
}

/** The DNS of the process, as its thread asks for it by messages. */
export class RemoteRecords {
  readonly #ask: (question: FromThread) => void;
  readonly #waiting = new Map<number, Waiting>();
  #questions = 0;

  constructor(ask: (question: FromThread) => void) {
    this.#ask = ask;
  }

  /** The DNS as it is asked for one mail. */
  for(id: number): DomainRecords {
    return {
      txt: (name) => this.#lookUp(id, "txt", name),
      mx: (name) => this.#lookUp(id, "mx", name),
      addresses: (name) => this.#lookUp(id, "addresses", name),
      names: (address) => this.#lookUp(id, "names", address),
    };
  }

  /** Passes an answer on to the mail that waits for it. */
  answer(message: Extract<ToThread, { kind: "records" | "silence" }>): void {
    const one = this.#waiting.get(message.question);
    this.#waiting.delete(message.question);
    if (message.kind === "records") one?.resolve(message.records);
    else one?.reject(Object.assign(new Error("No name server answered."), { code: message.code }));
  }

  #lookUp<T>(id: number, method: keyof DomainRecords, name: string): Promise<T[]> {
    return new Promise((resolve, reject) => {
      this.#questions += 1;
      const question = this.#questions;
      // The answers of a method have the type of that method on the other thread, too.
      this.#waiting.set(question, { resolve: (records) => resolve(records as T[]), reject });
      this.#ask({ kind: "question", question, id, method, name });
    });
  }
}
