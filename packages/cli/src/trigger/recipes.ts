import type { Mailsvc } from "@mailsvc/sdk";
import { contract, type Endpoint, type EventType } from "@mailsvc/sdk/contract";
import { CliError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";

/** The values from which the body of an object is built. */
interface Given {
  /** Tells this object from others. */
  readonly unique: string;
  /** The server's time, ms. */
  readonly now: number;
  /** An address that the workspace may send from. */
  readonly sender: string;
}

/** Recipe that makes an event of a type happen: it creates or finds an object, and does something to it. */
export interface Recipe {
  /** The call that creates the object: its fields can be set. Null for what must exist. */
  readonly create: { readonly endpoint: Endpoint; readonly body: (given: Given) => Record<string, unknown> } | null;
  /** Prefix of the ids of such objects. */
  readonly prefix: string;
  /** Acts on the object, by its id; missing if creating it is enough. */
  readonly act?: (client: Mailsvc, id: string, unique: string) => Promise<unknown>;
  /** Time until the event happens, by the server's clock. */
  readonly after?: string;
}

const HOUR = 3_600_000;

/** The reason no recipe makes events of a type, as the end of a sentence. */
interface NoRecipe {
  readonly none: string;
}

const BY_TIME = { none: "it takes days of the server's clock." };
const BY_AUTOMATION = { none: "let a contact enter an automation." };

/** The recipe for each type of event, or the reason there is none. */
export const RECIPES: Readonly<Record<EventType, Recipe | NoRecipe>> = {
  "email.queued": email("delivered"),
  "email.sent": email("delivered"),
  "email.delivered": email("delivered"),
  "email.deferred": email("delayed"),
  "email.bounced": email("bounced"),
  "email.opened": { ...email("opened"), after: "3s" },
  "email.clicked": {
    ...email("clicked", { html: '<p><a href="https://example.com/">Read on</a></p>', tracking: { clicks: true } }),
    after: "5s",
  },
  "email.complained": { ...email("complained"), after: "6s" },
  "email.failed": { ...email("softbounced"), after: "4d" },
  "email.cancelled": { ...scheduled(), act: (client, id) => client.emails.cancel(id) },
  "email.rescheduled": {
    ...scheduled(),
    act: async (client, id) => {
      const { scheduledAt } = await client.emails.get(id);
      if (scheduledAt === null)
        throw new CliError({
          code: "invalid_state",
          message: `The email ${id} has no planned time that could be moved.`,
          exit: EXIT.conflict,
          hint: "Name one that was sent with --schedule, or leave out --on.",
        });
      return client.emails.reschedule(id, { scheduledAt: new Date(Date.parse(scheduledAt) + HOUR).toISOString() });
    },
  },
  "email.suppressed": {
    ...scheduled(),
    act: async (client, id) => client.suppressions.create({ email: (await client.emails.get(id)).to }),
    after: "61m",
  },
  "email.unsubscribed": { none: "open the unsubscribe link of an email." },
  "email.received": { none: "answer a captured email: mailsvc inbox reply." },
  "contact.created": contact(),
  "contact.updated": { ...contact(), act: (client, id, unique) => client.contacts.update(id, { firstName: `Ada ${unique}` }) },
  "contact.deleted": { ...contact(), act: (client, id) => client.contacts.delete(id) },
  "contact.unsubscribed": { ...contact(), act: (client, id) => client.contacts.update(id, { status: "UNSUBSCRIBED" }) },
  "contact.subscribed": {
    ...contact(),
    act: async (client, id) => {
      await client.contacts.update(id, { status: "UNSUBSCRIBED" });
      return client.contacts.update(id, { status: "SUBSCRIBED" });
    },
  },
  "contact.bounced": { ...contact(), act: (client, id) => suppress(client, id, "bounce") },
  "contact.complained": { ...contact(), act: (client, id) => suppress(client, id, "complaint") },
  "contact.tracked": { ...contact(), act: (client, id) => client.events.track({ contact: id, name: "triggered" }) },
  "suppression.added": suppression(),
  "suppression.removed": { ...suppression(), act: (client, id) => client.suppressions.delete(id) },
  "list.joined": {
    ...list(),
    act: async (client, id, unique) => client.lists.add(id, { contacts: [(await client.contacts.create({ email: address(unique) })).id] }),
  },
  "list.left": {
    ...list(),
    act: async (client, id, unique) => {
      const { id: contactId } = await client.contacts.create({ email: address(unique) });
      await client.lists.add(id, { contacts: [contactId] });
      return client.lists.remove(id, { contacts: [contactId] });
    },
  },
  "campaign.paused": { create: null, prefix: "cmp_", act: (client, id) => client.campaigns.pause(id) },
  "campaign.resumed": { create: null, prefix: "cmp_", act: (client, id) => client.campaigns.resume(id) },
  "campaign.cancelled": { create: null, prefix: "cmp_", act: (client, id) => client.campaigns.cancel(id) },
  "campaign.scheduled": { none: "schedule a campaign: mailsvc campaigns schedule." },
  "campaign.started": { none: "send a campaign: mailsvc campaigns send." },
  "campaign.completed": { none: "send a campaign: mailsvc campaigns send." },
  "campaign.failed": { none: "it needs a scheduled campaign that cannot start." },
  "segment.entered": { none: "change a contact, so that the rules of a segment match it." },
  "segment.left": { none: "change a contact, so that the rules of its segment match it no more." },
  "automation.entered": BY_AUTOMATION,
  "automation.completed": BY_AUTOMATION,
  "automation.exited": BY_AUTOMATION,
  "automation.failed": BY_AUTOMATION,
  "automation.goal_reached": BY_AUTOMATION,
  "automation.webhook": BY_AUTOMATION,
  "domain.record_missing": BY_TIME,
  "domain.record_restored": BY_TIME,
  "mail.rate_high": { none: "it needs hundreds of emails of which many bounce." },
  "webhook.test": { none: "test a webhook: mailsvc webhooks test." },
  "webhook.disabled": BY_TIME,
};

function address(unique: string): string {
  return `delivered+${unique}@simulator.mailsvc.test`;
}

/** An email to a simulated recipient, which leaves no server. */
function email(mailbox: string, more: Record<string, unknown> = {}): Recipe {
  return {
    create: {
      endpoint: contract.emails.send,
      body: ({ unique, sender }) => ({
        from: sender,
        to: `${mailbox}+${unique}@simulator.mailsvc.test`,
        subject: "Hello",
        text: "Triggered by mailsvc.",
        ...more,
      }),
    },
    prefix: "em_",
  };
}

function scheduled(): Recipe {
  const { create, prefix } = email("delivered");
  return {
    create: create && {
      ...create,
      body: (given) => ({ ...create.body(given), scheduledAt: new Date(given.now + HOUR).toISOString() }),
    },
    prefix,
  };
}

function contact(): Recipe {
  return { create: { endpoint: contract.contacts.create, body: ({ unique }) => ({ email: address(unique) }) }, prefix: "con_" };
}

function list(): Recipe {
  return { create: { endpoint: contract.lists.create, body: ({ unique }) => ({ name: `Triggered ${unique}` }) }, prefix: "list_" };
}

function suppression(): Recipe {
  return { create: { endpoint: contract.suppressions.create, body: ({ unique }) => ({ email: address(unique) }) }, prefix: "sup_" };
}

async function suppress(client: Mailsvc, contactId: string, reason: "bounce" | "complaint"): Promise<unknown> {
  return client.suppressions.create({ email: (await client.contacts.get(contactId)).email, reason });
}
