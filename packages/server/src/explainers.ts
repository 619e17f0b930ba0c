import { explainEntry } from "./automations/explain.ts";
import { explainCampaign } from "./campaigns/explain.ts";
import type { Deps } from "./deps.ts";
import { explainWebhook, explainWebhookDelivery } from "./developer-webhooks/explain.ts";
import { getEvent } from "./events/list.ts";
import { type Explainer, type Explainers, explainAddress, explainContact, explainEmail } from "./explain/explain.ts";
import { getOwnMail } from "./inbox/inbox.ts";
import { ApiError } from "./lib/api-error.ts";
import { explainActivation, explainAgentEvent, explainToBuilder } from "./marketplace/agent-webhooks/explain.ts";
import { explainRun } from "./marketplace/runs/explain.ts";
import { explainReceived } from "./received/explain.ts";

const CONTACT: readonly Explainer<Deps>[] = [
  { permission: "contacts:read", explain: (read, deps, { workspaceId, id }) => explainContact(read, deps, workspaceId, id) },
];

const RUN: readonly Explainer<Deps>[] = [
  {
    permission: "marketplace:read",
    explain: (read, deps, { workspaceId, id, activation }) =>
      explainRun(read, { ...toPresent(deps), overdue: deps.runClock.overdue() }, workspaceId, { runId: id, activation }),
  },
];

/** Explainers of each kind of object, by the prefix of its ids. */
export const EXPLAINERS: Explainers<Deps> = {
  em: [
    {
      permission: "transactional:read",
      explain: (read, deps, { workspaceId, ...question }) => explainEmail(read, deps, workspaceId, question),
    },
  ],
  // A captured mail is explained by the email that it delivers, to its recipient.
  mail: [
    {
      permission: "transactional:read",
      explain: async (read, _deps, { workspaceId, id }) => {
        const { emailId, to } = await getOwnMail(read, id, workspaceId);
        if (emailId !== null) return { about: emailId, recipient: to };
        throw new ApiError("not_found", `${id} is a mail of the server itself, such as a confirmation, and belongs to no email.`, {
          hint: "Read it: mailsvc inbox get ID",
        });
      },
    },
  ],
  rcv: [
    {
      permission: "received:read",
      explain: (read, deps, { workspaceId, id }) =>
        explainReceived(
          read,
          { ...toPresent(deps), isReplyAddress: (address) => deps.returnPath.parse(address)?.kind === "reply" },
          workspaceId,
          id,
        ),
    },
  ],
  con: CONTACT,
  externalId: [...CONTACT, ...RUN],
  address: [{ permission: "contacts:read", explain: (read, deps, { workspaceId, id }) => explainAddress(read, deps, workspaceId, id) }],
  cmp: [{ permission: "campaigns:read", explain: (read, deps, { workspaceId, id }) => explainCampaign(read, deps, workspaceId, id) }],
  ent: [
    { permission: "automations:read", explain: (read, deps, { workspaceId, id }) => explainEntry(read, toPresent(deps), workspaceId, id) },
  ],
  whk: [
    { permission: "webhooks:read", explain: (read, deps, { workspaceId, id }) => explainWebhook(read, toPresent(deps), workspaceId, id) },
  ],
  whd: [
    {
      permission: "webhooks:read",
      explain: (read, deps, { workspaceId, id }) => explainWebhookDelivery(read, toPresent(deps), workspaceId, id),
    },
  ],
  // The brand's, or that of a builder's agent.
  act: [
    {
      permission: "marketplace:read",
      explain: (read, deps, { workspaceId, id }) => explainActivation(read, toPresent(deps), workspaceId, id),
    },
    { permission: "listings:read", explain: (read, deps, { workspaceId, id }) => explainToBuilder(read, toPresent(deps), workspaceId, id) },
  ],
  evt: [
    {
      permission: "listings:read",
      explain: (read, deps, { workspaceId, id }) => explainAgentEvent(read, toPresent(deps), workspaceId, id),
    },
    {
      permission: "events:read",
      explain: async (read, deps, { workspaceId, id }) => {
        const { emailId, contactId, campaignId } = await getEvent(read, deps, { workspaceId, test: false }, id);
        const about = emailId ?? contactId ?? campaignId;
        if (about === null) throw new ApiError("not_found", `Nothing more is known of ${id}: mailsvc events get ${id}`);
        return { about };
      },
    },
  ],
  run: RUN,
};

function toPresent({ clock, config }: Deps): { now: number; dev: boolean } {
  return { now: clock.now(), dev: config.dev };
}
