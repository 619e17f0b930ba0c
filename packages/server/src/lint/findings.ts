import {
  LINT_FINDINGS_PER_RULE,
  LINT_RULES,
  type LintFinding,
  type LintReport,
  type LintRuleId,
  type LintSeverity,
} from "@mailsvc/sdk/contract";

/** Settings of rules: `off`, or another severity. */
export type RuleSettings = Readonly<Partial<Record<string, LintSeverity | "off">>>;

/** A part of a mail, and the lines of its source. */
type Part = LintFinding["part"];
const PARTS: readonly Part[] = ["subject", "html", "text", "calendar"];

/** Collects what the checks find, by the settings of the rules. */
export class Findings {
  readonly #settings: RuleSettings;
  readonly #found: (LintFinding & { offset: number })[] = [];
  readonly #perRule = new Map<LintRuleId, number>();
  readonly #lines = new Map<Part, Lines>();
  #omitted = 0;

  constructor(settings: RuleSettings, sources: Readonly<Record<Part, string>>) {
    this.#settings = settings;
    for (const part of PARTS) this.#lines.set(part, new Lines(sources[part]));
  }

  /** True if a rule is on; asked before expensive checks. */
  isOn(rule: LintRuleId): boolean {
    return this.#settings[rule] !== "off";
  }

  /** Adds a finding at a position of the part's source; null if it concerns the whole part. */
  add(rule: LintRuleId, part: Part, offset: number | null, message: string): void {
    const place = offset === null ? null : (this.#lines.get(part)?.locate(offset) ?? null);
    this.addAt(rule, part, place, message, offset ?? -1);
  }

  /** Adds a finding whose line and column are known. */
  addAt(rule: LintRuleId, part: Part, place: { line: number; column: number } | null, message: string, offset = 0): void {
    const setting = this.#settings[rule];
    if (setting === "off") return;
    const count = (this.#perRule.get(rule) ?? 0) + 1;
    this.#perRule.set(rule, count);
    if (count > LINT_FINDINGS_PER_RULE) {
      this.#omitted += 1;
      return;
    }
    const { severity, fix } = LINT_RULES[rule];
    const { line, column } = place ?? { line: null, column: null };
    this.#found.push({ rule, severity: setting ?? severity, part, line, column, message, fix, offset });
  }

  toReport(bytes: number, rendered: boolean): LintReport {
    const sorted = this.#found.toSorted((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part) || a.offset - b.offset);
    const findings = sorted.map(({ offset: _, ...finding }) => finding);
    const count = (severity: LintSeverity): number => findings.filter((one) => one.severity === severity).length;
    return { findings, errors: count("error"), warnings: count("warning"), omitted: this.#omitted, bytes, rendered };
  }
}

/** Starts of the lines of a source. */
class Lines {
  readonly #starts: number[] = [0];

  constructor(source: string) {
    for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  locate(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] as number) + 1 };
  }
}
