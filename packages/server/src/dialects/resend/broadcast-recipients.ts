import { contract, type Event, type EventType, type Recipient } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { invalid } from "../../lib/api-error.ts";
import { type Operation, type Reads, readOperation } from "../operation.ts";
import { answerList, listQuery } from "./lists.ts";

const TYPES = ["sent", "delivered", "opened", "clicked", "bounced", "complained", "unsubscribed", "suppressed"] as const;
type Type = (typeof TYPES)[number];

/** Reasons that keep an address from all mail. */
const SUPPRESSED: ReadonlySet<Recipient["skipReason"]> = new Set(["suppressed", "bounced", "complained"]);

/** Recipients to whom something happened. Those with a state are looked up by it, the others are looked for among all. */
const SELECTIONS: Readonly<Record<Type, { readonly status?: Recipient["status"]; readonly fits: (one: Recipient) => boolean }>> = {
  sent: { fits: ({ sentAt }) => sentAt !== null },
  delivered: { fits: ({ status }) => status === "delivered" || status === "complained" },
  opened: { fits: ({ openedAt }) => openedAt !== null },
  clicked: { fits: ({ clickedAt }) => clickedAt !== null },
  bounced: { status: "bounced", fits: () => true },
  complained: { status: "complained", fits: () => true },
  unsubscribed: { fits: ({ unsubscribedAt }) => unsubscribedAt !== null },
  suppressed: { fits: ({ status, skipReason }) => status === "suppressed" || SUPPRESSED.has(skipReason) },
};

// Events of one mail that are counted.
const MAX_EVENTS = 100;

/** `GET /broadcasts/:id/recipients`: to whom something happened. */
export const listRecipients: Operation = readOperation({
  path: "/broadcasts/:id/recipients",
  note: `opens and clicks by machines do not count, and of one recipient at most ${MAX_EVENTS} do`,
  query: listQuery.extend({
    type: z.enum(TYPES),
    email: z.string().optional(),
    bounce_type: z.enum(["permanent", "transient", "undetermined"]).optional(),
  }),
  run: async ({ id, type, email, bounce_type, ...query }, calls) => {
    if (bounce_type !== undefined && type !== "bounced") throw invalid("bounce_type", "not_allowed", "bounce_type goes with type=bounced.");
    const { status, fits } = SELECTIONS[type];
    return answerList(
      query,
      async (page) => {
        const { data, pagination } = await calls.read(contract.campaigns.recipients, { id, ...page, ...(status && { status }) });
        const found = data.filter((one) => fits(one) && (email === undefined || one.to.toLowerCase() === email.toLowerCase()));
        const shown = await Promise.all(found.map((one) => showRecipient(one, type, calls)));
        return { data: shown.filter((one) => bounce_type === undefined || one.bounce_type === bounce_type), pagination };
      },
      (recipient) => recipient,
    );
  },
});

interface ShownRecipient {
  readonly id: string;
  readonly contact_id: string | null;
  readonly email: string;
  readonly count?: number;
  readonly clicked_links?: readonly { readonly url: string; readonly clicks: number }[];
  readonly bounce_type?: string;
}

async function showRecipient({ emailId, contactId, to }: Recipient, type: Type, calls: Reads): Promise<ShownRecipient> {
  const common = { id: emailId, contact_id: contactId, email: to };
  if (type === "opened") return { ...common, count: (await listEvents(emailId, "email.opened", calls)).length };
  if (type === "bounced") return { ...common, bounce_type: nameBounce(await listEvents(emailId, "email.bounced", calls)) };
  if (type !== "clicked") return common;
  const clicks = await listEvents(emailId, "email.clicked", calls);
  const links = Map.groupBy(clicks, (event) => (event.type === "email.clicked" ? (event.data.url ?? "") : ""));
  return { ...common, count: clicks.length, clicked_links: [...links].map(([url, all]) => ({ url, clicks: all.length })) };
}

async function listEvents(email: string, type: EventType, { read }: Reads): Promise<readonly Event[]> {
  const { data } = await read(contract.events.list, { email, type, limit: MAX_EVENTS });
  return (data as readonly Event[]).filter(({ machine }) => machine !== true);
}

function nameBounce([event]: readonly Event[]): string {
  if (event?.type !== "email.bounced") return "undetermined";
  return event.data.type === "PERMANENT" ? "permanent" : "transient";
}
