import { getHeapStatistics } from "node:v8";
import { parentPort, type Transferable } from "node:worker_threads";
import { JoinedBytes } from "./joined-bytes.ts";
import type { ParserTask, ThreadAnswer } from "./mail-parser.ts";
import { parseMail } from "./parse-mail.ts";
import { readLarge } from "./read-captured.ts";
import { readMail } from "./read-mail.ts";

Object.assign(globalThis, { Blob: JoinedBytes });

// The thread of `MailParser`: it gets one mail at a time and answers what the mail says. An error ends the thread.
parentPort?.on("message", async (task: ParserTask) => {
  const { raw } = task;
  if (task.kind === "report") return post(await parseMail(raw, task.envelope));
  if (task.kind === "captured") {
    const content = await readLarge(raw);
    return post(content, listBuffers(content.files));
  }
  const result = await readMail(raw, task.maxText);
  // The mail goes back, and its files with it.
  post({ raw, result }, listBuffers([{ content: raw }, ...("mail" in result ? result.mail.files : [])]));
});

/** The buffers of files, each once: their bytes change hands, none is copied. */
function listBuffers(files: readonly { readonly content: Uint8Array }[]): ArrayBuffer[] {
  return [...new Set(files.map(({ content }) => content.buffer))].filter((buffer) => buffer instanceof ArrayBuffer);
}

function post(answer: unknown, transferred: Transferable[] = []): void {
  parentPort?.postMessage({ answer, heapUsed: getHeapStatistics().used_heap_size } satisfies ThreadAnswer, transferred);
}
