import type { z } from "zod";
import type { Attachment } from "./contract/index.ts";
import { UsageError } from "./errors.ts";
import type { Base64Input } from "./upload.ts";

/** An attachment of a send, as `client.emails.send` accepts it. */
export type AttachmentInput = Omit<z.input<typeof Attachment>, "content"> & { content: Base64Input };

/**
 * Reads a file from disk as an attachment: `attachments: [await attachmentFromFile("./invoice.pdf")]`. The attachment gets the
 * file's own name unless `filename` is given. A separate function, so that a request body that is passed on unchecked cannot
 * name a file of this machine. Throws UsageError when the file cannot be read.
 */
export async function attachmentFromFile(path: string, options: Partial<Omit<AttachmentInput, "content">> = {}): Promise<AttachmentInput> {
  const { readFile } = await import("node:fs/promises");
  const content = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError({ message: `The attachment ${path} cannot be read (${cause.code ?? cause.message}).`, cause });
  });
  return { filename: path.split(/[\\/]/).at(-1) ?? path, ...options, content };
}
