import { eq } from "drizzle-orm";
import type { HandOver, Refusal } from "../ledger.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";

interface Sent {
  readonly marketing: boolean;
  readonly inDoubt: boolean;
  readonly bypass: boolean;
}

/** What the database knows of the mails that were handed over; those of people who were erased are gone. */
async function loadSent({ world }: Universe): Promise<ReadonlyMap<string, Sent>> {
  const { read } = world.app.deps.db;
  const { emails, contents } = read.t;
  const rows = await read.select().from(emails).innerJoin(contents, eq(contents.id, emails.contentsId));
  return new Map(
    rows.map(({ emails: e, contents: c }) => [
      e.id,
      { marketing: e.campaignId !== null || c.automationId !== null, inDoubt: e.inDoubt, bypass: c.bypassUnsubscribe },
    ]),
  );
}

/*
 * Once the service has answered that a person wants no mail, none is handed over to them: no campaign and no automation after "marketing",
 * nothing at all after "all". It counts from the answer, also for mail that was on its way to the mail server.
 */
export const REFUSALS: Invariant = {
  name: "refusals",
  promise: "Nobody who said no is mailed after that was acknowledged.",
  check: async (universe) => {
    if (universe.rewound) return [];
    const sent = await loadSent(universe);
    const { refusals, handOvers } = universe.ledger;
    return handOvers.flatMap((one) => {
      const mail = sent.get(one.emailId ?? "");
      const no = mail && refusals.find((refusal) => forbids(universe, refusal, one, mail));
      return no ? [`The mail ${one.emailId} went to ${one.to} after a no of scope ${no.scope}.`] : [];
    });
  },
};

function forbids({ workspaces }: Universe, no: Refusal, one: HandOver, mail: Sent): boolean {
  if (no.order > one.order || no.address !== one.to || workspaces[no.tenant] !== one.workspaceId) return false;
  return no.scope === "all" || (mail.marketing && !mail.bypass);
}

/*
 * A mail is handed over once to each of its recipients. Where a crash, or a connection that broke, left open whether it arrived, it is handed
 * over again under the same Message-ID, and listed as in doubt. A campaign has one mail for each address.
 */
export const ONCE: Invariant = {
  name: "once",
  promise: "Nobody gets a mail twice, unless the service lists it as in doubt.",
  check: async (universe) => {
    if (universe.rewound) return [];
    const sent = await loadSent(universe);
    const found: string[] = [];
    const taken = universe.ledger.handOvers.filter((one) => one.taken && one.emailId !== null);
    for (const [key, mails] of Map.groupBy(taken, ({ emailId, to }) => `${emailId} ${to}`)) {
      const mail = sent.get(mails[0]?.emailId ?? "");
      if (mails.length > 1 && mail && !mail.inDoubt) found.push(`${key} was handed over ${mails.length} times and is not in doubt.`);
      if (new Set(mails.map(({ messageId }) => messageId)).size > 1) found.push(`${key} was handed over under several Message-IDs.`);
    }
    return [...found, ...(await doubleRecipients(universe))];
  },
};

async function doubleRecipients({ world }: Universe): Promise<string[]> {
  const { read } = world.app.deps.db;
  const { emails } = read.t;
  const rows = (await read.select().from(emails)).filter(({ campaignId, status }) => campaignId !== null && status !== "skipped");
  return [...Map.groupBy(rows, ({ campaignId, toKey }) => `${campaignId} ${toKey}`)]
    .filter(([, mails]) => mails.length > 1)
    .map(([key, mails]) => `The campaign and address ${key} have ${mails.length} mails.`);
}
