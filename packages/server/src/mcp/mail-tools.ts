import type { CapturedMailDetail } from "@mailsvc/sdk/contract";
import { contract, Instant } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { MailBody, shorten, toMailBody } from "./mail-body.ts";
import { capturesAll } from "./operation-tool.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";
import { ToolError } from "./tool-error.ts";

const MATCH = {
  to: z.string().max(320).optional().meta({ description: "Recipient address, exactly" }),
  from: z.string().max(320).optional().meta({ description: "Part of the From header" }),
  subject: z.string().max(998).optional().meta({ description: "Part of the subject" }),
};
const includeHtml = z.boolean().optional().meta({ description: "Give the HTML too, cut at 20,000 characters" });

const CapturedMail = contract.testInbox.list.output.shape.data.element;
const MailView = contract.testInbox.get.output.omit({ html: true, text: true }).extend({ body: MailBody });
const EmailView = contract.emails.get.output.omit({ html: true, text: true }).extend({ body: MailBody });

// Clients give a call about a minute.
const MAX_WAIT_SECONDS = 50;

/** Tools that show mail: what was sent, and what was captured in dev mode or from test keys. */
export const mailTools: readonly Tool[] = [
  defineTool({
    name: "email_get",
    title: "Get an email",
    description: "Get one email with its recipients, state, history and content. For the reasons of its state use why.",
    input: z.strictObject({ id: z.string().meta({ description: "em_…" }), includeHtml }),
    output: EmailView,
    run: async ({ id, includeHtml: withHtml }, { api }) => {
      const { html, text, ...email } = await api.get("emails", "get", { id });
      return { ...(shorten(email, false) as typeof email), body: await toMailBody({ html, text }, withHtml === true) };
    },
  }),
  defineTool({
    name: "inbox_list",
    title: "List captured mail",
    description: "List mail that was captured instead of sent, newest first: all mail in dev mode, that of test keys elsewhere.",
    input: z.strictObject({ ...MATCH, limit: z.int().min(1).max(20).default(20), cursor: z.string().max(200).optional() }),
    output: contract.testInbox.list.output,
    run: async (input, context) => listInbox(context, input),
  }),
  defineTool({
    name: "inbox_wait",
    title: "Wait for a captured mail",
    description:
      "Wait for a matching captured mail and return it, with the links and codes in it. Considers all mail captured already, oldest first. To read the mail of what you are about to do, note the time before and pass it as since.",
    input: z.strictObject({
      ...MATCH,
      after: z
        .string()
        .max(64)
        .optional()
        .meta({ description: "Only mail captured after the one with this id; now for mail still to come" }),
      since: Instant.optional().meta({ description: "Only mail captured at this instant or later, e.g. 2030-01-31T09:30:00Z" }),
      timeout: z.number().min(0).max(MAX_WAIT_SECONDS).default(10).meta({ description: "Seconds to wait" }),
      includeHtml,
    }),
    output: MailView,
    run: async ({ includeHtml: withHtml, ...input }, { api, me, settings }) => {
      const mail = settings.dev
        ? await api.get("inbox", "wait", { ...input, workspace: (await me()).workspace.id })
        : await api.get("testInbox", "wait", input);
      return toView(mail, withHtml === true);
    },
  }),
  defineTool({
    name: "inbox_expect_none",
    title: "Make sure that no mail came",
    description:
      "Tell whether no matching mail was captured. In dev mode it first lets everything happen that is due, so that the answer is certain; within moves the clock by that much before, such as 30d.",
    // Moving the clock changes a development server.
    annotations: { readOnlyHint: false, idempotentHint: false },
    input: z.strictObject({ ...MATCH, within: z.string().optional().meta({ description: "Dev mode: move the clock first, e.g. 30d" }) }),
    output: z.object({
      none: z.boolean(),
      certain: z.boolean().meta({ description: "Nothing was due any more. Never so outside of dev mode, where mail may still come" }),
      mails: z.array(CapturedMail),
    }),
    run: async ({ within, ...match }, context) => {
      // Mail that is due is sent only where all mail is captured.
      const certain = context.settings.dev && (await capturesAll(context.me));
      if (certain) await context.api.get("clock", "advance", { by: within ?? "0s" });
      else if (within !== undefined) throw new ToolError("The clock is moved only on a development server that captures all mail.");
      const { data: mails } = await listInbox(context, { ...match, limit: 20 });
      return { none: mails.length === 0, certain, mails };
    },
  }),
];

async function listInbox({ api, me, settings }: ToolContext, input: Readonly<Record<string, unknown>>) {
  return settings.dev ? api.get("inbox", "list", { ...input, workspace: (await me()).workspace.id }) : api.get("testInbox", "list", input);
}

async function toView({ html, text, ...mail }: CapturedMailDetail, withHtml: boolean): Promise<z.input<typeof MailView>> {
  return { ...(shorten(mail, false) as typeof mail), body: await toMailBody({ html, text }, withHtml) };
}
