import { isTestMail } from "../../../packages/server/src/lib/ids.ts";
import { kindOf } from "../script.ts";
import type { Universe } from "../universe.ts";
import type { Invariant } from "./invariant.ts";
import { WAITS_MS } from "./sends.ts";

const DAY = 86_400_000;

export const ARRIVES: Invariant = {
  name: "arrives",
  promise: "Mail arrives, unless something that can be named keeps it back.",
  says: [
    "A mail that is said to be sent was taken by a mail server, which has it under its number and its recipient.",
    "A mail bounces only where the mail server of its recipient refuses it for good. It fails only after ten attempts in more than a day, and only where that mail server, or the one of the service, would not take it. It is cancelled only by a call, or with its campaign. It is suppressed, or skipped because of a no, only for an address that is on the list of suppressions, or was until somebody took that back. For a bounce an address is on that list only where its mail server says that there is no such mailbox, or that it is full again and again: a refusal of the content suppresses nobody.",
    "Worlds in which a disk was full, a server was killed or data was set back are judged by the other words.",
  ],
  check: async (universe) => {
    const { rewound, world } = universe;
    // Calls that were lost may have done what nobody knows of.
    if (rewound || has(universe, /^(kill|fullDisk|faults)/)) return [];
    const hasErased = has(universe, /^erase$/);
    const { read } = world.app.deps.db;
    const listed = new Set((await read.select().from(read.t.suppressions)).map((row) => `${row.workspaceId} ${row.email.toLowerCase()}`));
    const cancelled = new Set((await read.select().from(read.t.campaigns)).flatMap((row) => (row.status === "CANCELLED" ? row.id : [])));
    const tenants = new Map(Object.entries(universe.workspaces).map(([tenant, id]) => [id, tenant]));
    const taken = new Set(universe.ledger.handOvers.flatMap((one) => (one.taken ? `${one.emailId} ${one.to}` : [])));
    const stopped = new Set(universe.ledger.stops.map(({ what }) => what));
    const found = (await read.select().from(read.t.emails)).flatMap((mail): string[] => {
      const { id, mailId, workspaceId, toKey, status, skipReason, campaignId } = mail;
      const tenant = tenants.get(workspaceId);
      if (tenant === undefined || isTestMail(id) || !toKey.endsWith("@people.test")) return [];
      const says = (what: string): string[] => [`The mail ${id} to ${toKey} ${what}`];
      // Of an erased person the list keeps no address.
      const saidNo = listed.has(`${workspaceId} ${toKey}`) || universe.ledger.forgiven.has(`${tenant} ${toKey}`) || hasErased;
      switch (status) {
        case "sent":
          return universe.peer === null || taken.has(`${mailId ?? id} ${toKey}`) ? [] : says("is sent, and no mail server has taken it.");
        case "bounced":
          return mayBounce(universe, toKey) ? [] : says("has bounced, although its mailbox takes mail.");
        case "failed":
          return mayFail(universe, mail) ? [] : says(`has failed after ${mail.attempts} attempts: ${mail.lastError?.message}`);
        case "cancelled":
          return cancelled.has(campaignId ?? "") || stopped.has(id) || stopped.has(mailId ?? id) ? [] : says("was cancelled by nobody.");
        case "suppressed":
          return saidNo ? [] : says("is suppressed, and nobody has said no.");
        case "skipped":
          return saidNo || skipReason !== "unsubscribed" ? [] : says("is skipped because of a no that nobody has said.");
        default:
          return [];
      }
    });
    return [...found, ...(await findWronglySuppressed(universe))];
  },
};

/** Says who is suppressed for a bounce, although their mail server has refused the mail and not the mailbox. */
async function findWronglySuppressed({ world, peer }: Universe): Promise<string[]> {
  if (peer === null) return [];
  const { read } = world.app.deps.db;
  return (await read.select().from(read.t.suppressions)).flatMap(({ email, reason }) =>
    reason === "bounce" && email.endsWith("@people.test") && !["gone", "full"].includes(kindOf(email))
      ? [`${email} is suppressed for a bounce, and has a mailbox.`]
      : [],
  );
}

const has = ({ script }: Universe, by: RegExp): boolean => script.steps.some((step) => step.do === "disturb" && by.test(step.by));

function mayBounce(universe: Universe, toKey: string): boolean {
  if (universe.peer === null) return has(universe, /^report$/);
  return ["gone", "strict"].includes(kindOf(toKey));
}

interface Failed {
  readonly toKey: string;
  readonly attempts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly scheduledAt: number | null;
}

function mayFail(universe: Universe, { toKey, attempts, createdAt, updatedAt, scheduledAt }: Failed): boolean {
  const isRefused = kindOf(toKey) === "full" || has(universe, /^relay/);
  return universe.peer !== null && isRefused && attempts > WAITS_MS.length && updatedAt - (scheduledAt ?? createdAt) >= DAY;
}
