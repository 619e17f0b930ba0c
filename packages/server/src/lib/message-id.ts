import { hash } from "node:crypto";

/** The id of the mail that has a Message-ID; null for one that is not ours. */
export function readMessageId(messageId: string): string | null {
  return /^<(em_[0-9a-hjkmnp-tv-z]{26})@/.exec(messageId)?.[1] ?? null;
}

/**
 * The Message-ID that a mail server puts in place of ours, as its reply to the message tells; null if it tells none. Amazon SES replies
 * with the part before the @; Brevo and Outlook.com with all of it.
 */
export function readSentAs(response: string): string | null {
  const ses = /^250[ -].{0,40}?\b([0-9a-f]{16}-[0-9a-z-]{6,60}-\d{6})(?![\w-])/i.exec(response)?.[1];
  if (ses !== undefined) return `<${ses}@amazonses.com>`;
  const named = /<[^\s<>@]{8,200}@[^\s<>@]{3,200}>/.exec(response)?.[0];
  return named === undefined || readMessageId(named) !== null ? null : named;
}

/** A Message-ID without what its reader cannot know: SES has a host in each region. */
function withoutRegion(messageId: string): string {
  return messageId.replace(/@(?:[\w-]{1,63}\.){1,4}amazonses\.com>$/i, "@amazonses.com>");
}

/** A Message-ID as mails are looked up by it: ids may be long, keys of an index may not. */
export function hashMessageId(messageId: string): string {
  return hash("sha256", withoutRegion(messageId), "base64url");
}

/**
 * Key to find an email by, besides its own columns: a tag, its template, the automation that sent it, the conversation it
 * continues, or a Message-ID that a submitting program or the relay gave it.
 */
export type EmailLabel = `tag:${string}` | `template:${string}` | `automation:${string}` | `thread:${string}` | `message:${string}`;

/** The label of a tag that a filter names as `name=value`. */
export function toLabelOfTag(tag: string): EmailLabel {
  return `tag:${tag}`;
}

export function toTemplateLabel(slug: string): EmailLabel {
  return `template:${slug}`;
}

export function toAutomationLabel(id: string): EmailLabel {
  return `automation:${id}`;
}

export function toThreadLabel(threadId: string): EmailLabel {
  return `thread:${threadId}`;
}

export function toMessageLabel(messageId: string): EmailLabel {
  return `message:${hashMessageId(messageId)}`;
}
