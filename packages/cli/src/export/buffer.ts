import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Contact } from "@mailsvc/sdk/contract";
import { invalidInput } from "../runtime/errors.ts";

/** Contacts put aside in a file until all of them have been seen: only then is it known which custom fields there are. */
export interface ContactBuffer {
  add(contacts: readonly Contact[]): void;
  /** The keys of their custom fields, in order. */
  keys(): string[];
  contacts(): AsyncGenerator<Contact>;
  remove(): void;
}

// A spreadsheet takes 16,384 columns, people far fewer.
const MAX_KEYS = 2000;

/** A spool in the folder for temporary files, gone with `remove`. */
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

/** One line of JSON. Readers of lines break them at U+2028 and U+2029 as well, which JSON leaves as they are. */
function formatJsonLine(contact: Contact): string {
  return `${JSON.stringify(contact).replace(/[\u2028\u2029]/g, (separator) => `\\u${separator.charCodeAt(0).toString(16)}`)}\n`;
}
