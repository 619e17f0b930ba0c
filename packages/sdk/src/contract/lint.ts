import { endpoint } from "./endpoint.ts";
import { LINT_RULE_IDS, LINT_RULES, LINT_SEVERITIES, MAIL_CLIENT_IDS } from "./lint-rules.ts";
import { Content, issue } from "./send-fields.ts";
import { TEMPLATE_LIMITS, templateFields } from "./template-fields.ts";
import * as z from "./zod.ts";

/** Maximum number of findings of one rule in a report. */
export const LINT_FINDINGS_PER_RULE = 20;

const RuleId = z.enum(LINT_RULE_IDS);

/** A rule by which mail is checked. */
export const LintRule = z
  .object({ id: RuleId, severity: z.enum(LINT_SEVERITIES), about: z.string(), fix: z.string() })
  .meta({ id: "LintRule" });
export type LintRule = z.infer<typeof LintRule>;

/** Something in a mail that a rule objects to. */
export const LintFinding = z
  .object({
    rule: RuleId,
    severity: z.enum(LINT_SEVERITIES),
    part: z.enum(["subject", "html", "text", "calendar"]),
    /** Line, from 1; null if the finding concerns the whole part. */
    line: z.int().nullable(),
    column: z.int().nullable(),
    message: z.string(),
    fix: z.string(),
  })
  .meta({ id: "LintFinding" });
export type LintFinding = z.infer<typeof LintFinding>;

export const LintReport = z
  .object({
    /** In the order of the mail, at most 20 of one rule. */
    findings: z.array(LintFinding),
    errors: z.int(),
    warnings: z.int(),
    /** Findings beyond those listed. */
    omitted: z.int(),
    /** Size of the HTML. */
    bytes: z.int(),
    /** True if lines are those of the rendered HTML: of a template with a layout, partials or values. */
    rendered: z.boolean(),
  })
  .meta({ id: "LintReport" });
export type LintReport = z.infer<typeof LintReport>;

const lintRules = z
  .record(z.string(), z.enum(["off", ...LINT_SEVERITIES]))
  .superRefine((rules, ctx) => {
    for (const id of Object.keys(rules))
      if (!Object.hasOwn(LINT_RULES, id)) issue(ctx, [id], "unknown_rule", `There is no rule ${JSON.stringify(id.slice(0, 60))}.`);
  })
  .meta({ description: "Turn rules off, or change their severity: off, warning or error", examples: [{ "spam-words": "off" }] });

export const lint = {
  check: endpoint({
    method: "POST",
    path: "/api/v1/lint",
    access: { permission: "templates:read" },
    tool: "lint_html",
    summary: "Check a mail for what mail programs, filters and readers dislike",
    description:
      "Checks the HTML and text given, the draft of a template, or an email. Sends and stores nothing. `GET /api/v1/lint/rules` lists the rules.",
    body: z.strictObject({
      html: templateFields.html.optional(),
      text: templateFields.text.optional(),
      subject: templateFields.subject.optional(),
      calendar: Content.optional().meta({ description: "Calendar of an invitation: the content of icalEvent" }),
      type: z
        .enum(["transactional", "marketing"])
        .optional()
        .meta({ description: "Its purpose; marketing needs an unsubscribe link. A template has one already" }),
      template: z.string().max(TEMPLATE_LIMITS.slug).optional().meta({ description: "Id or slug of a template, in place of html" }),
      email: z.string().max(64).optional().meta({ description: "Id of an email, in place of html" }),
      clients: z.array(z.enum(MAIL_CLIENT_IDS)).min(1).optional().meta({ description: "Mail programs that count; all by default" }),
      rules: lintRules.optional(),
    }),
    output: LintReport,
    errors: ["not_found", "template_error"],
    examples: [
      {
        summary: "A line of HTML",
        body: { html: '<p style="color:#999;background:#fff">Hi</p>', subject: "Hello", rules: { "text-missing": "off" } },
      },
    ],
  }),
  rules: endpoint({
    method: "GET",
    path: "/api/v1/lint/rules",
    access: "key",
    summary: "List the rules by which mail is checked",
    output: z.object({ data: z.array(LintRule) }),
    examples: [{ summary: "All" }],
  }),
};
