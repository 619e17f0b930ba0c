import { ContentCache } from "../lib/content-cache.ts";
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

/** Creates a cache of 8 MB. */
export function createMimeCache(): MimeCache {
  /** By HTML, or by text where there is none. */
  const cache = new ContentCache<Texts & { readonly encoded: EncodedTexts }>(MAX_BYTES);
  return {
    get: (mail) => {
      const found = cache.get(keyOf(mail));
      return found?.text === mail.text && found.html === mail.html ? found.encoded : undefined;
    },
    set: ({ text, html }, encoded) => {
      // Characters of a string take up to two bytes.
      const entities = [...encoded.parts, ...(encoded.parts.length > 1 ? [encoded.whole] : [])];
      const bytes = 2 * ((text?.length ?? 0) + (html?.length ?? 0)) + entities.reduce((sum, { body }) => sum + body.length, 0);
      cache.set(keyOf({ text, html }), { text, html, encoded }, bytes);
    },
    clear: () => cache.clear(),
  };
}

function keyOf({ text, html }: Texts): string {
  return html ?? text ?? "";
}
