/** @jsxImportSource preact */
import type { SegmentPreview, SegmentRule } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError, type RequestError, withoutPath } from "../../api/request-error.ts";
import { after } from "../../browser.ts";
import { toOptions, useGroups } from "../audience/groups.ts";
import { ErrorNote } from "../error-note.tsx";
import { useResource } from "../resource.ts";
import { Tabs } from "../tabs.tsx";
import { type Known, RuleBuilder } from "./rule-builder.tsx";
import { RulePreview } from "./rule-preview.tsx";
import { buildRule, type GroupNode, isWhole, parseRule } from "./tree.ts";

interface Props {
  readonly rule: SegmentRule;
  /** Called with each rule that could be saved: null while a condition is not complete. */
  readonly change: (rule: SegmentRule | null) => void;
  /** Error of the server when it refused the rule. */
  readonly refused?: RequestError | null;
}

interface State {
  readonly root: GroupNode;
  /** The text of the JSON view. */
  readonly text: string;
  /** Fault in that text. */
  readonly fault: string | null;
}

// After the last change of a rule.
const SETTLE_MS = 300;

// From this many contacts on, the names of tags and custom fields are suggested.
const SAMPLE = 100;

/** A rule that is made by hand or as JSON, and who matches it at this moment. */
export function RuleEditor({ rule, change, refused = null }: Props) {
  const [view, setView] = useState("builder");
  const [state, setState] = useState<State>(() => ({ root: parseRule(rule), text: format(rule), fault: null }));
  const known = useKnown();
  const built = buildRule(state.root);
  const whole = state.fault === null && isWhole(state.root);
  const preview = usePreview(whole ? built.rule : null);
  const take = (root: GroupNode): void => {
    const next = buildRule(root);
    setState({ root, text: format(next.rule), fault: null });
    change(isWhole(root) ? next.rule : null);
  };
  const write = (text: string): void => {
    const parsed = parseText(text);
    if ("fault" in parsed) {
      setState((before) => ({ ...before, text, fault: parsed.fault }));
      change(null);
    } else {
      const root = parseRule(parsed.rule);
      setState({ root, text, fault: null });
      change(isWhole(root) ? parsed.rule : null);
    }
  };
  const error = refused ?? preview.error;
  const errors = placeErrors(error, built.places);
  return (
    <div class="rules">
      <Tabs
        label="The rule"
        tabs={[
          { name: "builder", label: "Conditions" },
          { name: "json", label: "JSON" },
        ]}
        chosen={view}
        choose={setView}
      >
        {view === "builder" ? (
          <RuleBuilder root={state.root} change={take} errors={errors} known={known} />
        ) : (
          <JsonView text={state.text} fault={state.fault ?? error?.message ?? null} write={write} />
        )}
      </Tabs>
      {error !== null && (error.status !== 400 || error.details.length === 0) ? <ErrorNote error={error} /> : null}
      <RulePreview preview={preview.data} loading={preview.loading} missing={error === null ? (whole ? null : "incomplete") : "wrong"} />
    </div>
  );
}

function JsonView({
  text,
  fault,
  write,
}: {
  readonly text: string;
  readonly fault: string | null;
  readonly write: (text: string) => void;
}) {
  return (
    <div class="stack">
      <textarea
        class="code"
        aria-label="The rule as JSON"
        aria-invalid={fault !== null}
        rows={Math.min(24, Math.max(8, text.split("\n").length))}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      {fault === null ? null : (
        <p class="wrong" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

/** Lists, and the names of tags and custom fields that the newest contacts have. */
function useKnown(): Known {
  const groups = useGroups();
  const sample = useResource(async (signal) => (await api.contacts.list({ limit: SAMPLE }, { signal })).data, []);
  const contacts = sample.data ?? [];
  return {
    lists: toOptions(groups.data?.lists ?? []),
    tags: [...new Set(contacts.flatMap(({ tags }) => tags))].sort(),
    customFields: [...new Set(contacts.flatMap(({ customFields }) => Object.keys(customFields)))].sort(),
  };
}

interface Preview {
  readonly data: SegmentPreview | null;
  readonly error: RequestError | null;
  readonly loading: boolean;
}

/** Counts the matches of a rule shortly after its last change; the old preview stays until then. */
function usePreview(rule: SegmentRule | null): Preview {
  const [state, setState] = useState<Preview>({ data: null, error: null, loading: rule !== null });
  const key = rule === null ? null : JSON.stringify(rule);
  useEffect(() => {
    if (key === null) {
      setState((before) => ({ ...before, error: null, loading: false }));
      return;
    }
    const over = new AbortController();
    setState((before) => ({ ...before, error: null, loading: true }));
    const cancel = after(SETTLE_MS, () => {
      api.segments.preview({ rules: JSON.parse(key) as SegmentRule, limit: 5 }, { signal: over.signal }).then(
        (data) => over.signal.aborted || setState({ data, error: null, loading: false }),
        (cause: unknown) => over.signal.aborted || setState({ data: null, error: asRequestError(cause), loading: false }),
      );
    });
    return () => {
      cancel();
      over.abort();
    };
  }, [key]);
  return state;
}

/** The messages of an error at the conditions they are about: paths such as `rules.all[2].value` lead there. */
function placeErrors(error: RequestError | null, places: ReadonlyMap<string, number>): ReadonlyMap<number, string> {
  const placed = new Map<number, string>();
  for (const { path, message } of error?.details ?? []) {
    const at = [...places.keys()].filter((place) => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`));
    const id = places.get(at.reduce((longest, one) => (one.length > longest.length ? one : longest), "rules"));
    if (id !== undefined) placed.set(id, [placed.get(id), withoutPath(message, path)].filter(Boolean).join(" "));
  }
  return placed;
}

function format(rule: SegmentRule): string {
  return JSON.stringify(rule, null, 2);
}

function parseText(text: string): { readonly rule: SegmentRule } | { readonly fault: string } {
  try {
    const rule: unknown = JSON.parse(text);
    return isRule(rule) ? { rule } : { fault: "A rule is { all }, { any }, { not } or { field, operator, value }." };
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` };
  }
}

/** True if a value has the shape of a rule. The server validates it. */
function isRule(value: unknown): value is SegmentRule {
  if (typeof value !== "object" || value === null) return false;
  const { all, any, not, field, operator } = value as Readonly<Record<string, unknown>>;
  if (all !== undefined) return Array.isArray(all) && all.every(isRule);
  if (any !== undefined) return Array.isArray(any) && any.every(isRule);
  return not === undefined ? typeof field === "string" && typeof operator === "string" : isRule(not);
}
