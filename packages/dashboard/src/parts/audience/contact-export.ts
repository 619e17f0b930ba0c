import type { Contact } from "@mailsvc/sdk/contract";
import { formatContact, formatHeader } from "../../../../sdk/src/contact-files/contact-lines.ts";
import { type ContactFilters, listBatches } from "./bulk.ts";

const CSV = { separator: ",", guarded: true, keys: null } as const;

/** A file of contacts, as parts of it. */
export interface ContactFile {
  readonly parts: BlobPart[];
  readonly contacts: number;
}

/** Reads all contacts that the filters match, as the file that `mailsvc contacts export` writes and an import reads. */
export async function exportContacts(
  format: "csv" | "ndjson",
  filters: ContactFilters,
  signal: AbortSignal,
  progress: (contacts: number) => void,
): Promise<ContactFile> {
  // With the mark, Excel reads it as UTF-8.
  const parts: BlobPart[] = format === "csv" ? [`\ufeff${formatHeader(CSV)}`] : [];
  const toLine = (contact: Contact): string => (format === "csv" ? formatContact(contact, CSV) : `${JSON.stringify(contact)}\n`);
  let contacts = 0;
  for await (const batch of listBatches(filters, signal)) {
    // A blob for each batch: the browser may put it on the disk.
    parts.push(new Blob([batch.map(toLine).join("")]));
    contacts += batch.length;
    progress(contacts);
  }
  return { parts, contacts };
}
