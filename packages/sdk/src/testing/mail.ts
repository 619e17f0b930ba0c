import type { CapturedMail, CapturedMailDetail } from "../types.generated.ts";

/** Filter for mail: the exact recipient, and parts of sender and subject. */
export interface MailFilter {
  to?: string;
  from?: string;
  subject?: string;
}

/** A captured mail with its contents. */
export interface TestMail extends CapturedMailDetail {
  /** The first of its codes; with a pattern, its first match in the text outside of links, or its first group. Throws if there is none. */
  code(pattern?: RegExp): string;
}

/** The captured mail of a test. Each method first waits until everything that is due has been delivered. */
export interface TestInbox {
  /** All captured mail, oldest first, without contents. */
  all(filter?: MailFilter): Promise<CapturedMail[]>;
  /** One captured mail with its contents, by the `id` that `all` gives. */
  get(id: string): Promise<TestMail>;
  /**
   * The oldest matching mail with its contents; with `after`, the oldest one captured after the mail with this id. Throws if none comes,
   * naming what did. With `timeout` it waits for as many seconds of real time, for code that sends by itself.
   */
  waitFor(filter?: MailFilter & { after?: string; timeout?: number }): Promise<TestMail>;
}

const URLS = /https?:\/\/[^\s<>"')\]]+/g;
const TAGS = /<[^>]*>/g;

/** A captured mail as tests read it. */
export function toTestMail(mail: CapturedMailDetail): TestMail {
  return {
    ...mail,
    code: (pattern) => {
      if (pattern === undefined && mail.codes[0] !== undefined) return mail.codes[0];
      const wanted = pattern && new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
      for (const text of wanted ? [mail.text ?? "", (mail.html ?? "").replace(TAGS, " "), mail.subject] : []) {
        const found = wanted?.exec(text.replace(URLS, " "));
        if (found) return found[1] ?? found[0];
      }
      throw new Error(
        `The mail "${mail.subject}" to ${mail.to} has ${pattern ? `nothing that matches ${pattern}` : "no number of 4 to 8 digits"}.`,
      );
    },
  };
}

/** Lists sent mail, one line each. */
export function describeMails(mails: readonly CapturedMail[]): string {
  if (mails.length === 0) return "No mail was sent at all.";
  return `These were sent:\n${mails.map(({ to, subject }) => `  to ${to}: ${subject}`).join("\n")}`;
}
