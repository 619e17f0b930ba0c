import { SoughtAddress } from "./address.ts";
import { endpoint } from "./endpoint.ts";
import { AGENT_BASE } from "./marketplace/agent-base.ts";
import { Instant } from "./page.ts";
import * as z from "./zod.ts";

/** The kinds of objects that can be explained. */
export const EXPLAINED_KINDS = [
  "email",
  "received",
  "contact",
  "campaign",
  "automation_entry",
  "webhook",
  "webhook_delivery",
  "activation",
  "run",
  "agent_event",
] as const;
export type ExplainedKind = (typeof EXPLAINED_KINDS)[number];

/** Objects that can be explained: the prefix of their ids, and their names. */
export const EXPLAINED_IDS = {
  em: ["email"],
  mail: ["captured mail"],
  rcv: ["received mail"],
  evt: ["event", "agent event"],
  con: ["contact"],
  cmp: ["campaign"],
  ent: ["automation entry"],
  whk: ["webhook"],
  whd: ["webhook delivery"],
  act: ["activation"],
  run: ["run"],
} as const;
export type ExplainedPrefix = keyof typeof EXPLAINED_IDS;

/** A call of the API that does what an explanation advises. */
const ExplainedCall = z
  .object({
    /** Two or three words for a button. */
    label: z.string(),
    /** Operation of the OpenAPI document, such as `emails.requeue`. */
    operation: z.string(),
    /** Permission of the key that may call it; `operator` for the operator key. */
    permission: z.string(),
    /** Values of the parameters in its path. */
    path: z.array(z.string()),
    /** Fields of its body, if it takes one. */
    body: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: "ExplainedCall" });

/** The state of an object and its causes, in words for people. Derived from stored data only. */
export const Explanation = z
  .object({
    id: z.string(),
    kind: z.enum(EXPLAINED_KINDS),
    /** A short name of the object. */
    title: z.string(),
    status: z.string(),
    /** Its state, and the reason. */
    summary: z.string(),
    /** Its history, oldest first. */
    timeline: z.array(
      z.object({
        at: Instant,
        what: z.string(),
        /** The meaning or the cause; null if it needs no explanation. */
        why: z.string().nullable(),
      }),
    ),
    /** The next thing the service does by itself, and when, by the server's clock; `at` is null if the time is not known. Null if nothing is planned. */
    next: z.object({ at: Instant.nullable(), what: z.string() }).nullable(),
    /** Things you can do about it, with the command if there is one, and the call for a button where it needs nothing more. */
    actions: z.array(z.object({ what: z.string(), command: z.string().nullable(), call: ExplainedCall.optional() })),
    /** Ids of objects that had a part in it and can be explained too. */
    related: z.array(z.string()),
    /** The server's time. */
    explainedAt: Instant,
  })
  .meta({ id: "Explanation" });
export type Explanation = z.infer<typeof Explanation>;

export const explanations = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/explain/:id",
    access: "key",
    tool: "why",
    summary: "Explain an object: its history, the reasons and what to do next",
    description: `Takes the id of one of these: ${Object.values(EXPLAINED_IDS).flat().join(", ")}; the UUID that an object has below /resend; or the address or externalId of a contact. The key needs the permission to read it.`,
    query: z.object({
      recipient: SoughtAddress.optional().meta({ description: "Of an email to several recipients: only what concerns this address" }),
      activation: z.string().max(100).optional().meta({ description: "Of a run: its activation, if several have a run of this id" }),
    }),
    output: Explanation,
    errors: ["not_found", "forbidden"],
    examples: [
      { summary: "An email that did not arrive", params: { id: "em_01jc3v2m9k8q4w6x0y5z7a1b2c" } },
      { summary: "A contact that gets no mail", params: { id: "ada@example.com" } },
    ],
  }),
};

const activation = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };

/** The same for agents, about their own activation and its runs. */
export const agentExplanations = {
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/explain/:id`,
    access: "agent",
    summary: "Explain your activation or one of its runs",
    description: "A run needs the scope `agent:read_runs`.",
    output: Explanation,
    errors: ["not_found", "forbidden"],
    examples: [{ summary: "A run that failed", params: { ...activation, id: "run_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
