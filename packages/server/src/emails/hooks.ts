import type { Reader } from "../db/db.ts";
import type { EmailRow } from "./store.ts";

/** A mail as its recipient reads it. */
export interface RenderedMail {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** Callbacks that render mails whose stored content is a template: mails of campaigns. `features.ts` connects them. */
export interface RenderHooks {
  /**
   * Renders the subjects that the recipients read, by the ids of the emails. Omits emails of other kinds, and those that cannot be
   * rendered any more.
   */
  renderSubjects(read: Reader, emails: readonly EmailRow[]): Promise<ReadonlyMap<string, string>>;
  /** The whole mail; null if it is no such mail, or cannot be rendered any more. */
  renderMail(read: Reader, email: EmailRow): Promise<RenderedMail | null>;
}
