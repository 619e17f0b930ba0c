import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Contact } from "@mailsvc/sdk/contract";
import { invalidInput } from "../runtime/errors.ts";

/** Buffers contacts in a file until all have been read, because only then all custom fields are known. */
interface ContactBuffer {
  add(contacts: readonly Contact[]): void;
  /** The keys of the custom fields seen so far, sorted. */
  keys(): string[];
  contacts(): AsyncGenerator<Contact>;
  remove(): void;
}

// Spreadsheets allow 16,384 columns; this many are already unreadable.
const MAX_KEYS = 2000;

/** Opens a buffer in the temporary folder; `remove` deletes it. */
export function openBuffer(): ContactBuffer {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-export-"));
  const path = join(folder, "contacts.ndjson");
  const file = openSync(path, "w", 0o600);
  const keys = new Set<string>();
  return {
    add: (contacts) => {
      for (const { customFields } of contacts) for (const key of Object.keys(customFields)) keys.add(key);
      if (keys.size > MAX_KEYS)
        throw invalidInput(`There are more than ${MAX_KEYS} different custom fields.`, [], {
          code: "too_many_columns",
          hint: "Without --custom-fields columns they stand in one column, as JSON.",
        });
      if (contacts.length > 0) writeFileSync(file, contacts.map(formatJsonLine).join(""));
    },
    keys: () => [...keys].sort(),
    contacts: async function* () {
      for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
        yield JSON.parse(line) as Contact;
    },
    remove: () => {
      closeSync(file);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Formats one line of JSON. Escapes U+2028 and U+2029, at which line readers also break and which JSON does not escape. */
function formatJsonLine(contact: Contact): string {
  return `${JSON.stringify(contact).replace(/[\u2028\u2029]/g, (separator) => `\\u${separator.charCodeAt(0).toString(16)}`)}\n`;
}
