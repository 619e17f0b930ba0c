import { getHeapStatistics } from "node:v8";
import { parentPort, type Transferable } from "node:worker_threads";
import { JoinedBytes } from "./joined-bytes.ts";
import type { ParserTask, ThreadAnswer } from "./mail-parser.ts";
import { parseMail } from "./parse-mail.ts";
import { readMail } from "./read-mail.ts";

Object.assign(globalThis, { Blob: JoinedBytes });

// The thread of `MailParser`: it gets one mail at a time and answers what the mail says. An error ends the thread.
parentPort?.on("message", async (task: ParserTask) => {
  const { kind, raw } = task;
  if (kind === "report") return post(await parseMail(raw));
  const result = await readMail(raw, task.maxText);
  // The mail goes back, and its files with it: their bytes change hands, none is copied.
  const buffers = new Set<ArrayBufferLike>([raw.buffer]);
  if ("mail" in result) for (const { content } of result.mail.files) buffers.add(content.buffer);
  post(
    { raw, result },
    [...buffers].filter((buffer) => buffer instanceof ArrayBuffer),
  );
});

function post(answer: unknown, transferred: Transferable[] = []): void {
  parentPort?.postMessage({ answer, heapUsed: getHeapStatistics().used_heap_size } satisfies ThreadAnswer, transferred);
}
