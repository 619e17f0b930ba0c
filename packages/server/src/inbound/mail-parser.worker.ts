import { parentPort } from "node:worker_threads";
import type { ParserTask } from "./mail-parser.ts";
import { parseMail } from "./parse-mail.ts";
import { readMail } from "./read-mail.ts";

// The thread of `MailParser`: it gets one mail at a time and answers what the mail says. An error ends the thread.
parentPort?.on("message", async (task: ParserTask) => {
  const { kind, raw } = task;
  if (kind === "report") return parentPort?.postMessage(await parseMail(raw));
  const result = await readMail(raw, task.maxText);
  // The mail goes back, and its files with it: their bytes change hands, none is copied.
  const buffers = new Set<ArrayBufferLike>([raw.buffer]);
  if ("mail" in result) for (const { content } of result.mail.files) buffers.add(content.buffer);
  parentPort?.postMessage(
    { raw, result },
    [...buffers].filter((buffer) => buffer instanceof ArrayBuffer),
  );
});
