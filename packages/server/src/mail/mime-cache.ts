import type { OutgoingMail } from "./mailer.ts";
import type { MimeEntity } from "./mime-entity.ts";

/** The texts of a mail, encoded. */
export interface EncodedTexts {
  /** One or two alternatives. */
  readonly parts: readonly MimeEntity[];
  /** The alternatives together, or the only one: the content of a mail without files. */
  readonly whole: MimeEntity;
  /** What the boundaries of multiparts that hold these texts end with. */
  readonly boundary: string;
}

type Texts = Pick<OutgoingMail, "text" | "html">;

/** Keeps encoded texts: mails of one campaign, or of one send, differ in their headers only. */
export interface MimeCache {
  get(mail: Texts): EncodedTexts | undefined;
  set(mail: Texts, encoded: EncodedTexts): void;
  clear(): void;
}

const MAX_BYTES = 8 * 1024 * 1024;
// A larger content takes the place of too many others.
const MAX_ENTRY_BYTES = MAX_BYTES / 16;

/** Creates a cache of 8 MB, which drops the contents that were used least recently. */
export function createMimeCache(): MimeCache {
  /** By HTML, or by text where there is none. Oldest use first. */
  const entries = new Map<string, Texts & { readonly encoded: EncodedTexts; readonly bytes: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get: (mail) => {
      const key = keyOf(mail);
      const found = entries.get(key);
      if (!found || found.text !== mail.text || found.html !== mail.html) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.encoded;
    },
    set: ({ text, html }, encoded) => {
      const key = keyOf({ text, html });
      if (entries.get(key)?.encoded === encoded) return;
      // Characters of a string take up to two bytes.
      const entities = [...encoded.parts, ...(encoded.parts.length > 1 ? [encoded.whole] : [])];
      const bytes = 2 * ((text?.length ?? 0) + (html?.length ?? 0)) + entities.reduce((sum, { body }) => sum + body.length, 0);
      if (bytes > MAX_ENTRY_BYTES) return;
      remove(key);
      entries.set(key, { text, html, encoded, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= MAX_BYTES) break;
        remove(oldest);
      }
    },
    clear: () => {
      entries.clear();
      total = 0;
    },
  };
}

function keyOf({ text, html }: Texts): string {
  return html ?? text ?? "";
}
