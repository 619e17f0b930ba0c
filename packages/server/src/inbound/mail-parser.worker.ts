import { parentPort } from "node:worker_threads";
import { parseMail } from "./parse-mail.ts";

// The thread of `MailParser`: it gets one mail at a time and answers what the mail says. An error ends the thread.
parentPort?.on("message", async (raw: Uint8Array) => {
  parentPort?.postMessage(await parseMail(raw));
});
