import type { Mailsvc } from "@mailsvc/sdk";

/** An issue of the newsletter: a file of the repository. */
export interface Issue {
  /** Names the campaign, for example the file name; an issue is sent once. */
  name: string;
  /** The HTML; its title is the subject. */
  html: string;
}

const FROM = "news@acme.example";

/**
 * Sends an issue to the members of a list, and returns its campaign. A job that runs again, or two at the same time, do not send it
 * twice: the issue is one campaign, and a campaign is sent once. Throws an Error if the HTML has no title.
 */
export async function sendIssue(client: Mailsvc, { name, html }: Issue, listId: string): Promise<{ id: string; sent: boolean }> {
  const subjectLine = /<title>\s*([^<]+?)\s*<\/title>/i.exec(html)?.[1];
  if (subjectLine === undefined) throw new Error(`${name} needs a <title>: it is the subject.`);
  const campaigns = await client.campaigns.list().toArray();
  const draft =
    campaigns.find((campaign) => campaign.name === name) ??
    (await client.campaigns.create(
      { name, subjectLine, fromEmail: FROM, fromName: "Acme", html, recipientType: "list", listId },
      { idempotencyKey: `newsletter-${name}` },
    ));
  if (draft.status !== "DRAFT") return { id: draft.id, sent: false };
  await client.campaigns.send(draft.id, { revision: draft.revision }, { idempotencyKey: `newsletter-${name}-send` });
  return { id: draft.id, sent: true };
}
