import { parentPort } from "node:worker_threads";
import { authenticate, unknownSender } from "./authenticate.ts";
import type { ToThread } from "./mail-authenticator.ts";
import { RemoteRecords } from "./remote-records.ts";

// The thread of `MailAuthenticator`: it gets mails, several at a time, and answers who sent them. The process that started it asks the DNS.
const records = new RemoteRecords((question) => parentPort?.postMessage(question));

parentPort?.on("message", async (message: ToThread) => {
  if (message.kind !== "mail") return records.answer(message);
  const { id, raw, peer } = message;
  // An error of mailauth is its own fault, and no reason to refuse a mail.
  const result = await authenticate(raw, peer, records.for(id)).catch(() => unknownSender("It could not be checked."));
  parentPort?.postMessage({ kind: "result", id, raw, result }, [raw.buffer]);
});
