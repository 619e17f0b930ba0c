import { hashMessageId } from "./message-id.ts";

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
