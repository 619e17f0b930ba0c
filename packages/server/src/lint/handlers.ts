import { type contract, LINT_RULE_IDS, LINT_RULES, type LintReport } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import { invalid } from "../lib/api-error.ts";
import type { MailToLint } from "./lint.ts";

/** Mail of other modules that lint can check. Each function throws ApiError not_found. */
export interface MailSources<Deps> {
  /** The draft of a template, by id or slug. */
  template(read: Reader, workspaceId: string, name: string): Promise<MailToLint>;
  email(read: Reader, deps: Deps, workspaceId: string, id: string): Promise<MailToLint>;
  /** Sources that are not stored. */
  given(mail: Pick<MailToLint, "html" | "text" | "subject" | "type" | "calendar">): Promise<MailToLint>;
}

export function lintHandlers<Deps>(sources: MailSources<Deps>): Handlers<typeof contract.lint, Deps> {
  return {
    check: {
      // It writes nothing, so it runs before the transaction.
      prepare: async ({ template, email, html, text, subject, calendar, type, clients, rules }, { read, deps, workspaceId }) => {
        const named = [template, email, html ?? text ?? calendar].filter((one) => one !== undefined && one !== null);
        if (named.length !== 1)
          throw invalid(named.length === 0 ? "html" : "template", "one_of", "Name one of html (or text, or calendar), template and email.");
        const mail =
          template !== undefined
            ? await sources.template(read, workspaceId, template)
            : email !== undefined
              ? await sources.email(read, deps, workspaceId, email)
              : await sources.given({
                  html: html || null,
                  text: text || null,
                  subject: subject || null,
                  calendar: calendar ?? null,
                  type: type ?? "transactional",
                });
        // No start of a server needs its rules.
        const { lintMail } = await import("./lint.ts");
        return lintMail({ ...mail, ...(type !== undefined && { type }) }, { clients, rules });
      },
      run: async (_input, _context, report: LintReport) => report,
    },
    rules: async () => ({
      data: LINT_RULE_IDS.map((id) => {
        const { severity, about, fix } = LINT_RULES[id];
        return { id, severity, about, fix };
      }),
    }),
  };
}
