import type { LintReport, Template } from "@mailsvc/sdk/contract";
import type { LintOptions, MailToLint } from "./lint/lint.ts";
import { loadParser } from "./templates/engine/parser.ts";
import { readSource } from "./templates/engine/read.ts";
import { SourceFaults, type Tree } from "./templates/engine/tree.ts";
import { collectVariables, type Declared } from "./templates/engine/variables.ts";

/** The sources of a mail that is no row of a server, such as files. */
export interface SourcesToLint {
  readonly html: string | null;
  readonly text: string | null;
  readonly subject: string | null;
  /** The calendar of an invitation; none when absent. */
  readonly calendar?: string | null;
  readonly type: Template["type"];
  /** The slug of the layout around it. */
  readonly layout: string | null;
  /** The variables that the template declares; null for HTML that is no template of this service, whose braces mean nothing. */
  readonly declared: readonly Declared[] | null;
}

/** Checks sources without a server. Throws only for errors of the program. */
export async function lintSources(sources: SourcesToLint, options: LintOptions = {}): Promise<LintReport> {
  const { lintMail } = await import("./lint/lint.ts");
  return lintMail(await toMailToLint(sources), options);
}

/** A mail that is no template. */
export const WHOLE_MAIL = { isWhole: true, wasSent: false, isRendered: false, calendar: null, variables: null, faults: [] } as const;

/** Reads the placeholders of sources. */
export async function toMailToLint({ html, text, subject, calendar = null, type, layout, declared }: SourcesToLint): Promise<MailToLint> {
  const mail = { ...WHOLE_MAIL, html, text, subject, calendar, type: type === "marketing" ? "marketing" : "transactional" } as const;
  if (declared === null) return mail;
  const { used, faults } = await readVariables(
    [
      ["subject", subject],
      ["html", html],
      ["text", text],
    ],
    { declared, layout: type === "layout" },
  );
  const isPart = layout !== null || type === "partial";
  return { ...mail, isWhole: !isPart, variables: { declared: declared.map(({ name }) => name), used }, faults };
}

type Part = "subject" | "html" | "text";

/** The variables that sources use, and what is wrong in them. */
export async function readVariables(
  sources: readonly (readonly [Part, string | null])[],
  { declared = [], layout = false }: { declared?: readonly Declared[]; layout?: boolean } = {},
): Promise<{ used: string[]; faults: MailToLint["faults"] }> {
  const parse = await loadParser();
  const htmlVariables = new Set(declared.filter(({ type }) => type === "html").map(({ name }) => name));
  const trees: Tree[] = [];
  const faults: MailToLint["faults"][number][] = [];
  for (const [part, source] of sources) {
    if (source === null) continue;
    try {
      trees.push(readSource(parse, source, { role: part, layout: layout && part !== "subject", htmlVariables }));
    } catch (error) {
      if (!(error instanceof SourceFaults)) throw error;
      faults.push(...error.faults.map(({ line, column, message }) => ({ part, line, column, message })));
    }
  }
  const used = faults.length > 0 ? [] : collectVariables(trees, () => undefined, []).map(({ name }) => name);
  return { used, faults };
}
