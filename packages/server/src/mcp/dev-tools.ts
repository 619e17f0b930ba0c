import { contract } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { SIMULATOR, SIMULATOR_DOMAIN } from "../mail/simulator.ts";
import { IDEMPOTENCY_KEY } from "./operation-tool.ts";
import { defineTool, type Tool } from "./tool.ts";

const OUTCOMES = SIMULATOR.map(({ name }) => name) as [string, ...string[]];
const ABOUT = SIMULATOR.map(({ name, description }) => `${name}: ${description}`).join(" ");

const Sent = z.object({ id: z.string() });

/** Tools of dev mode beyond the operations that have one. */
export const devTools: readonly Tool[] = [
  defineTool({
    name: "simulate",
    title: "Send a mail to a simulated recipient",
    description: `Send a test mail whose recipient behaves as asked. ${ABOUT} What follows later needs clock_advance; then look at why.`,
    needs: "dev",
    annotations: { readOnlyHint: false },
    input: z.strictObject({
      outcome: z.enum(OUTCOMES),
      label: z
        .string()
        .regex(/^[a-z0-9-]{1,40}$/)
        .optional()
        .meta({ description: "Makes the address another one: bounced+LABEL@…" }),
      subject: z.string().min(1).max(200).default("Simulated"),
      idempotencyKey: IDEMPOTENCY_KEY,
    }),
    output: z.object({
      id: z.string().meta({ description: "Of the email, for email_get and why" }),
      to: z.string(),
      happens: z.string(),
      idempotencyKey: z.string().nullable(),
      replayed: z.boolean().meta({ description: "An earlier call with this key sent it: this one sent nothing" }),
    }),
    run: async ({ outcome, label, subject, idempotencyKey: given }, { api }) => {
      const mailbox = SIMULATOR.find(({ name }) => name === outcome);
      const to = `${outcome}${label === undefined ? "" : `+${label}`}@${SIMULATOR_DOMAIN}`;
      const mail = {
        from: "Simulation <simulation@mailsvc.example>",
        to,
        subject,
        text: "Simulated.",
        replyTo: "auto",
        tracking: { opens: true },
      };
      const { data, idempotencyKey, replayed } = await api.call({ id: "emails.send", endpoint: contract.emails.send }, mail, given);
      return { id: Sent.parse(data).id, to, happens: mailbox?.description ?? "", idempotencyKey, replayed };
    },
  }),
];
