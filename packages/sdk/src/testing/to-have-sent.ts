import { addressKey } from "../contract/address.ts";
import { describeMails, type TestInbox, type TestMail } from "./mail.ts";

/** Fields a mail must match: the exact recipients; a part of the other texts, or a pattern. */
export interface SentMail {
  /** Recipient. */
  to?: string;
  /** Address in its Cc header. */
  cc?: string;
  /** Recipient of a blind copy. */
  bcc?: string;
  from?: string | RegExp;
  subject?: string | RegExp;
  text?: string | RegExp;
  html?: string | RegExp;
}

/** The type of the matcher, for `declare module "vitest"`. */
export interface MailMatchers {
  toHaveSent(expected: SentMail): Promise<void>;
}

/**
 * A matcher for vitest, Jest and Playwright: `expect.extend({ toHaveSent })`, then `await expect(server).toHaveSent({ to, subject })`. It
 * passes if at least one captured mail has everything that is asked for. With `not` it shows that no such mail was sent: everything that
 * is due has been delivered before it looks (docs/testing.md).
 */
export async function toHaveSent(
  server: { readonly inbox: TestInbox },
  expected: SentMail,
): Promise<{ pass: boolean; message: () => string }> {
  const { to, cc, bcc, ...texts } = expected;
  const sent = await server.inbox.all(to === undefined ? {} : { to });
  let pass = false;
  for (const { id } of sent) {
    if (pass) break;
    const mail = await server.inbox.get(id);
    pass =
      matches(mail, texts) &&
      (cc === undefined || listNamed(mail, ["cc"]).has(addressKey(cc))) &&
      (bcc === undefined || (await wasSentBlind(server.inbox, mail, bcc)));
  }
  const all = pass ? [] : await server.inbox.all();
  const wanted = Object.entries(expected).map(([name, value]) => `${name}: ${value instanceof RegExp ? value : JSON.stringify(value)}`);
  return {
    pass,
    message: () =>
      pass ? `A mail with ${wanted.join(", ")} was sent.` : `No mail with ${wanted.join(", ")} was sent. ${describeMails(all)}`,
  };
}

/** The addresses that headers of a mail name. */
function listNamed({ headers }: TestMail, names: readonly string[]): Set<string> {
  const values = headers.filter(({ name }) => names.includes(name.toLowerCase())).map(({ value }) => value);
  return new Set(values.flatMap((value) => value.match(/[^\s<>,;"]+@[^\s<>,;"]+/g) ?? []).map(addressKey));
}

/** True if an address got a mail that does not name it. */
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
