import type { CapturedMail, CapturedMailDetail, Mailsvc } from "@mailsvc/sdk";
import { addressKey } from "@mailsvc/sdk/contract";
import { decodeAttribute } from "../html/escape.ts";
import { toPlainText } from "../html/plain-text.ts";
import { tokenize } from "../html/tokenizer.ts";
import type { Activity } from "./activity.ts";

/** Which mail is meant: the exact recipient, and parts of sender and subject. */
export interface MailFilter {
  to?: string;
  from?: string;
  subject?: string;
}

/** A captured mail with its contents. */
export interface TestMail extends CapturedMailDetail {
  /** The targets of its links, from the HTML and then from the text, each once. */
  links(): string[];
  /**
   * The first match of `pattern` outside of links, by default a number of 4 to 8 digits, as sign-in mails have it; its first
   * group, if it has one. Throws if there is none.
   */
  code(pattern?: RegExp): string;
}

/** The captured mail of a world. Each method first waits until everything that is due has been delivered. */
export interface TestInbox {
  /** All captured mail, oldest first, without contents. */
  all(filter?: MailFilter): Promise<CapturedMail[]>;
  /** One captured mail with its contents, by the `id` that `all` gives. */
  get(id: string): Promise<TestMail>;
  /**
   * The oldest matching mail with its contents; with `after`, the oldest one captured after the mail with this id. Throws if none comes,
   * naming what did: at once while the clock is frozen, when no request is under way and nothing is due; after 5 seconds while it runs.
   * With `timeout` it waits for as many seconds of real time, for code that sends by itself.
   */
  waitFor(filter?: MailFilter & { after?: string; timeout?: number }): Promise<TestMail>;
}

/** @internal */
export interface InboxParts {
  readonly sdk: Mailsvc;
  readonly settle: () => Promise<void>;
  readonly activity: Activity;
}

/** @internal */
export function createInbox({ sdk, settle, activity }: InboxParts): TestInbox {
  const all: TestInbox["all"] = async (filter = {}) => {
    await settle();
    return (await sdk.inbox.list(filter).toArray()).reverse();
  };
  return {
    all,
    get: async (id) => {
      await settle();
      return toTestMail(await sdk.inbox.get(id));
    },
    waitFor: async ({ timeout = activity.timeout, ...filter } = {}) => {
      for (;;) {
        await activity.end();
        const mail = await sdk.inbox.wait({ ...filter, timeout }).catch(toNull);
        if (mail) return toTestMail(mail);
        if (!activity.isAsked) throw new Error(`No mail matches ${JSON.stringify(filter)}. ${describe(await all())}${activity.explain()}`);
      }
    },
  };
}

/** What a mail must have to match: the exact recipients; a part of the other texts, or a pattern. */
export interface SentMail {
  /** Who got it. */
  to?: string;
  /** Whom it names in Cc. */
  cc?: string;
  /** Who got it, too, without being named in it. */
  bcc?: string;
  from?: string | RegExp;
  subject?: string | RegExp;
  text?: string | RegExp;
  html?: string | RegExp;
}

/**
 * A matcher for vitest and Jest: `expect.extend({ toHaveSent })`, then `await expect(world).toHaveSent({ to, subject })`. It
 * passes if at least one captured mail has everything that is asked for.
 */
export async function toHaveSent(
  world: { readonly inbox: TestInbox },
  expected: SentMail,
): Promise<{ pass: boolean; message: () => string }> {
  const { to, cc, bcc, ...texts } = expected;
  const sent = await world.inbox.all(to === undefined ? {} : { to });
  let pass = false;
  for (const { id } of sent) {
    if (pass) break;
    const mail = await world.inbox.get(id);
    pass =
      matches(mail, texts) &&
      (cc === undefined || listNamed(mail, ["cc"]).has(addressKey(cc))) &&
      (bcc === undefined || (await wasSentBlind(world.inbox, mail, bcc)));
  }
  const all = pass ? [] : await world.inbox.all();
  const wanted = Object.entries(expected).map(([name, value]) => `${name}: ${value instanceof RegExp ? value : JSON.stringify(value)}`);
  return {
    pass,
    message: () => (pass ? `A mail with ${wanted.join(", ")} was sent.` : `No mail with ${wanted.join(", ")} was sent. ${describe(all)}`),
  };
}

/** The type of the matcher, for `declare module "vitest"`. */
export interface MailMatchers {
  toHaveSent(expected: SentMail): Promise<void>;
}

function toNull(error: unknown): null {
  if ((error as { code?: unknown }).code === "not_found") return null;
  throw error;
}

/** The addresses that headers of a mail name. */
function listNamed({ headers }: TestMail, names: readonly string[]): Set<string> {
  const values = headers.filter(({ name }) => names.includes(name.toLowerCase())).map(({ value }) => value);
  return new Set(values.flatMap((value) => value.match(/[^\s<>,;"]+@[^\s<>,;"]+/g) ?? []).map(addressKey));
}

/** Whether an address got a copy of a mail that does not name it. */
async function wasSentBlind(inbox: TestInbox, mail: TestMail, address: string): Promise<boolean> {
  const messageId = findMessageId(mail);
  if (messageId === undefined || listNamed(mail, ["to", "cc"]).has(addressKey(address))) return false;
  for (const { id } of await inbox.all({ to: address })) if (findMessageId(await inbox.get(id)) === messageId) return true;
  return false;
}

function findMessageId({ headers }: TestMail): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === "message-id")?.value;
}

function matches(mail: TestMail, expected: Omit<SentMail, "to" | "cc" | "bcc">): boolean {
  return Object.entries(expected).every(([name, value]: [string, string | RegExp | undefined]) => {
    const text = mail[name as keyof typeof expected] ?? "";
    return value === undefined || (typeof value === "string" ? text.includes(value) : new RegExp(value).test(text));
  });
}

function describe(mails: readonly CapturedMail[]): string {
  if (mails.length === 0) return "No mail was sent at all.";
  return `These were sent:\n${mails.map(({ to, subject }) => `  to ${to}: ${subject}`).join("\n")}`;
}

const URLS = /https?:\/\/[^\s<>"')\]]+/g;

function toTestMail(mail: CapturedMailDetail): TestMail {
  return {
    ...mail,
    links: () => [...new Set([...listTargets(mail.html ?? ""), ...((mail.text ?? "").match(URLS) ?? [])])],
    code: (pattern = /\b\d{4,8}\b/) => {
      for (const text of [mail.text ?? "", toPlainText(mail.html ?? ""), mail.subject]) {
        const found = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).exec(text.replace(URLS, " "));
        if (found) return found[1] ?? found[0];
      }
      throw new Error(`The mail "${mail.subject}" to ${mail.to} has nothing that matches ${pattern}.`);
    },
  };
}

function* listTargets(html: string): Generator<string> {
  for (const token of tokenize(html)) {
    const href = token.kind === "open" && token.name === "a" ? token.attributes.find(([name]) => name === "href")?.[1] : undefined;
    if (href !== undefined) yield decodeAttribute(href).trim();
  }
}
