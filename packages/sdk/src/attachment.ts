import { platform } from "./platform/node.ts";
import type { Attachment } from "./types.generated.ts";

/** An attachment of a send, as `client.emails.send` accepts it. */
export type AttachmentInput = Attachment;

/**
 * Reads a file from disk as an attachment: `attachments: [await attachmentFromFile("./invoice.pdf")]`. The attachment gets the
 * file's own name unless `filename` is given. A separate function, so that a request body that is passed on unchecked cannot
 * name a file of this machine. Throws UsageError when the file cannot be read.
 */
export async function attachmentFromFile(path: string, options: Partial<Omit<AttachmentInput, "content">> = {}): Promise<AttachmentInput> {
  return { filename: path.split(/[\\/]/).at(-1) ?? path, ...options, content: await platform.readFile(path) };
}
