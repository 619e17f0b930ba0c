import type { Tx } from "../db/db.ts";
import type { ContentsRow, EmailRow } from "./store.ts";

/** What an email is listed by besides its own columns: a tag, the template it was rendered from, the automation that sent it. */
export type Label = `tag:${string}` | `template:${string}` | `automation:${string}`;

/** The label of a tag that a filter names as `name=value`. */
export function toLabelOfTag(tag: string): Label {
  return `tag:${tag}`;
}

export function toTemplateLabel(slug: string): Label {
  return `template:${slug}`;
}

export function toAutomationLabel(id: string): Label {
  return `automation:${id}`;
}

/**
 * Stores the labels of emails that share contents. They are rows of a table of their own, so that an email without any pays nothing for
 * them. Emails of campaigns have none: they are found by their campaign.
 */
export async function insertLabels(
  tx: Tx,
  emails: readonly Pick<EmailRow, "workspaceId" | "id">[],
  { tags, template }: Pick<ContentsRow, "tags" | "template">,
  automationId: string | null,
): Promise<void> {
  const labels: Label[] = Object.entries(tags).map(([name, value]) => toLabelOfTag(`${name}=${value}`));
  // A stored name is `slug@version`.
  if (template !== null) labels.push(toTemplateLabel(template.slice(0, template.lastIndexOf("@"))));
  if (automationId !== null) labels.push(toAutomationLabel(automationId));
  if (labels.length === 0) return;
  await tx.insertAll(
    tx.t.emailLabels,
    emails.flatMap(({ workspaceId, id }) => labels.map((label) => ({ workspaceId, label, emailId: id }))),
    { newKeys: true },
  );
}
