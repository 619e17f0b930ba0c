import type { AutoReplyReason } from "@mailsvc/sdk/contract";

/** The parts of a mail that tell if a program wrote it. */
interface MailSigns {
  /** Names in lower case. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The address in the From header; null when that is none. */
  readonly from: string | null;
}

// Servers on the way of a mail that is not going in circles.
const MAX_HOPS = 50;

const PROGRAM = /^(?:mailer-daemon|postmaster|mail-daemon|maildaemon|bounces?|no-?reply|do-?not-?reply|microsoftexchange\w*)@/i;

// Fields of programs that answer, from before RFC 3834 or beside it, and their values.
const OF_PROGRAMS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^x-(?:mail-)?auto-?(?:reply|generated|responder|response)$/, /^\s*(?!no\b|false\b)\S/i],
  [/^x-auto-?respond$/, /^(?!\s*(?:no|false)\b)/i],
  [/^x-auto-?reply-(?:from|domain)$/, /^/],
  [/^x-fc-machinegenerated$/, /^\s*(?:true|yes|1)\b/i],
  [/^delivered-to$/, /^\s*auto-?responder\b/i],
  [/^x-post-messageclass$/, /auto-?responder/i],
  [/^x-ms-exchange-generated-message-source$/, /mailbox rules|auto-?reply|out of office|\boof\b/i],
];

/**
 * Returns the reason a mail counts as written by a program, as its headers tell (RFC 3834): automatic replies, mail of lists and mail
 * servers, and mail that goes in circles. Null for the mail of a person.
 */
export function findAutoReply({ headers, from }: MailSigns): AutoReplyReason | null {
  const has = (name: RegExp, value = /./): boolean => headers.some((header) => name.test(header.key) && value.test(header.value));
  if (has(/^x-loop$/) || headers.filter(({ key }) => key === "received").length > MAX_HOPS) return "loop";
  if (has(/^auto-submitted$/, /^\s*(?!no\b)\S/i)) return "auto_submitted";
  if (OF_PROGRAMS.some(([name, value]) => has(name, value))) return "auto_submitted";
  if (has(/^return-path$/, /^\s*<>\s*$/)) return "null_sender";
  if (from !== null && PROGRAM.test(from)) return "program_address";
  if (has(/^list-(?:id|unsubscribe|post|help)$/)) return "mailing_list";
  if (has(/^precedence$/, /^\s*(?:bulk|junk|list|auto_?reply)\b/i)) return "precedence";
  return null;
}
