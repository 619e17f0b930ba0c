import { parentPort } from "node:worker_threads";
import type { DomainRecords } from "../../lib/domain-records.ts";
import { authenticate, type Peer, unknownSender } from "./authenticate.ts";
import type { FromThread, ToThread } from "./mail-authenticator.ts";

// The thread of `MailAuthenticator`. The process that started it asks the DNS for it. An error ends the thread.

interface Waiting {
  resolve(records: unknown[]): void;
  reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
let questions = 0;

parentPort?.on("message", async (message: ToThread) => {
  if (message.kind === "mail") return check(message.id, message.raw, message.peer);
  const one = waiting.get(message.question);
  waiting.delete(message.question);
  if (message.kind === "records") one?.resolve(message.records);
  else one?.reject(Object.assign(new Error("No name server answered."), { code: message.code }));
});

async function check(id: number, raw: Uint8Array<ArrayBuffer>, peer: Peer): Promise<void> {
  // What mailauth throws is a fault of it, and no reason to refuse a mail.
  const result = await authenticate(raw, peer, recordsFor(id)).catch(() => unknownSender("It could not be checked."));
  tell({ kind: "result", id, raw, result }, [raw.buffer]);
}

/** The DNS, as the other thread asks it for a mail. */
function recordsFor(id: number): DomainRecords {
  // Each method's answers have the type of that method on the other thread, too.
  const ask = <T>(method: keyof DomainRecords, name: string): Promise<T[]> =>
    new Promise((resolve, reject) => {
      questions += 1;
      waiting.set(questions, { resolve: (records) => resolve(records as T[]), reject });
      tell({ kind: "question", question: questions, id, method, name });
    });
  return {
    txt: (name) => ask("txt", name),
    mx: (name) => ask("mx", name),
    addresses: (name) => ask("addresses", name),
    names: (address) => ask("names", address),
  };
}

function tell(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
