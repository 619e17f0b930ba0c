import { eq } from "drizzle-orm";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

export const CONTENT: Invariant = {
  name: "content",
  promise: "Each reader gets the mail that was written for them, with a way out.",
  says: [
    "A campaign that is made of blocks says in its HTML and in its text what its blocks say. In an A/B test it is what the blocks of the reader's variant say, and after the decision those of the winner.",
    "Every mail of a campaign or an automation that a mail server is given offers to unsubscribe, unless its template is exempt from that.",
  ],
  check: async (universe) => [...(await findOthersWords(universe)), ...(await findWithoutWayOut(universe))],
};

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
