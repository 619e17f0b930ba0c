import { eq } from "drizzle-orm";
import { DRAFT } from "../nouns/sending.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const CONTENT: Invariant = {
  name: "content",
  promise: "Each reader gets the mail that was written for them, with a way out.",
  says: [
    "A campaign that is made of blocks says in its HTML and in its text what its blocks say. In an A/B test it is what the blocks of the reader's variant say, and after the decision those of the winner.",
    "Mail of a template is made of the version that was published last, not of a draft after it.",
    "A mail that greets its reader by name greets no other person. A link in a mail leads to where its author has let it lead. A file of a brand has the bytes that were uploaded, wherever the data has moved since.",
    "Every mail of a campaign or an automation that a mail server is given offers to unsubscribe, unless its template is exempt from that.",
  ],
  check: async (universe) => [
    ...(await findOthersWords(universe)),
    ...(await findWithoutWayOut(universe)),
    ...findMisaddressed(universe),
    ...(await findDraftsSent(universe)),
    ...(await findChangedFiles(universe)),
    ...(universe.ledger.notes.get("content") ?? []),
  ],
};

/** Files of brands that are given out as other bytes than were uploaded, or not at all. */
async function findChangedFiles(universe: Universe): Promise<string[]> {
  const found: string[] = [];
  for (const { label, tenant, id, also } of universe.things.values()) {
    const sdk = universe.sdk(tenant);
    const find = {
      assets: async () => (await sdk.assets.get(id)).url,
      leadMagnets: async () => (await sdk.leadMagnets.get(id)).downloadUrl,
    };
    const link = also["file"] === undefined ? null : await universe.value(find[also["file"] as keyof typeof find]);
    if (link === null) continue;
    const { pathname, search } = new URL(link);
    const answer = await universe.fetchAs(tenant)(universe.world.url + pathname + search);
    const bytes = Buffer.from(await answer.arrayBuffer()).toString("base64");
    if (answer.status !== 200 || bytes !== also["base64"])
      found.push(`The file of ${label} is answered with ${answer.status}, and is another one.`);
  }
  return found;
}

/** Mail that was made of a draft which was not published. */
async function findDraftsSent({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const rows = await read.select().from(read.t.contents);
  return rows.flatMap(({ id, subject }) => (subject.startsWith(DRAFT) ? [`The content ${id} of mail is that of a draft: ${subject}`] : []));
}

/** Mail that greets somebody else than its recipient. */
function findMisaddressed({ ledger }: Universe): string[] {
  return ledger.handOvers.flatMap(({ emailId, to, greeted }) =>
    greeted === null || to.includes(`-${greeted}@`) ? [] : [`The mail ${emailId} to ${to} greets the person ${greeted}.`],
  );
}

async function findOthersWords({ world, things, ledger, rewound }: Universe): Promise<string[]> {
  if (rewound) return [];
  const { read } = world.app.deps.db;
  const labels = new Map([...things.values()].flatMap(({ id, label, also }) => (also["says"] === "blocks" ? [[id, label] as const] : [])));
  const mails = new Map((await read.select().from(read.t.emails)).map((row) => [row.id, row]));
  return ledger.handOvers.flatMap(({ emailId, to, says }) => {
    const { campaignId = null, variant = null } = mails.get(emailId ?? "") ?? {};
    const label = labels.get(campaignId ?? "");
    if (label === undefined) return [];
    const wanted = `Says ${label} ${variant ?? "A"}`;
    const other = says.find((words) => words !== wanted);
    return other === undefined ? [] : [`The mail ${emailId} to ${to} should say "${wanted}", and has "${other}".`];
  });
}

async function findWithoutWayOut({ world, ledger }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const { emails, contents } = read.t;
  const rows = await read.select().from(emails).innerJoin(contents, eq(contents.id, emails.contentsId));
  const marketing = new Set(
    rows.flatMap(({ emails: e, contents: c }) =>
      (e.campaignId !== null || c.automationId !== null) && !c.bypassUnsubscribe ? (e.mailId ?? e.id) : [],
    ),
  );
  return ledger.handOvers.flatMap(({ emailId, to, hasWayOut }) =>
    emailId !== null && marketing.has(emailId) && !hasWayOut ? [`The mail ${emailId} to ${to} does not offer to unsubscribe.`] : [],
  );
}
