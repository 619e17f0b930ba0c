/** @jsxImportSource preact */
import type { AutomationDetail, AutomationStep, DryRun as Run } from "@mailsvc/sdk/contract";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { may } from "../api/session.ts";
import { after } from "../browser.ts";
import { type Edited, formatDefinition, isDrawable, parseDefinition } from "../parts/automations/definition.ts";
import { DryRun } from "../parts/automations/dry-run.tsx";
import { Flow } from "../parts/automations/flow.tsx";
import { lineOf, locate } from "../parts/automations/json-position.ts";
import { place } from "../parts/automations/layout.ts";
import { useNames } from "../parts/automations/names.ts";
import { addStep, SNIPPETS } from "../parts/automations/snippets.ts";
import { describeStep, type Names } from "../parts/automations/words.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { useLeaveWarning } from "../parts/leave-warning.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { count as plural } from "../parts/plural.ts";
import { useResource } from "../parts/resource.ts";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

// After the last letter.
const TYPING_MS = 400;

/** The editor of an automation: its definition, the graph that it makes, and what a contact would do in it before it is saved. */
export default function AutomationEditPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const automation = useResource((signal) => api.automations.get(id, {}, { signal }), [id]);
  const { data } = automation;
  const isEditable = data !== null && may("automations:write") && data.archivedAt === null;
  useEffect(() => {
    if (data !== null && !isEditable) go(`/automations/${id}`, { replace: true });
  }, [data, isEditable]);
  if (data !== null && isEditable) return <Editor automation={data} />;
  return (
    <Page title="Automation" back={{ href: toHref("/automations"), name: "Automations" }}>
      <Loaded from={automation}>{() => null}</Loaded>
    </Page>
  );
}

function Editor({ automation }: { readonly automation: AutomationDetail }) {
  const { id, name, status } = automation;
  const names = useNames();
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => formatDefinition(automation));
  const [drawn, setDrawn] = useState<Edited>(automation);
  const [chosen, choose] = useState(() => automation.steps.findLast(({ type }) => type !== "exit")?.id ?? "trigger");
  const [run, show] = useState<Run | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  const stats = useResource((signal) => api.automations.stats(id, { signal }), [id]);
  const parsed = useMemo(() => parseDefinition(text), [text]);
  const fault = typeof parsed === "string" ? parsed : null;
  const changed = text !== formatDefinition(automation);
  useLeaveWarning(changed, { links: true });
  useEffect(
    () =>
      after(TYPING_MS, () => {
        if (typeof parsed === "string" || !isDrawable(parsed, (edited) => drawAll(edited, names))) return;
        setDrawn(parsed);
      }),
    [parsed, names],
  );
  const edit = (next: string): void => {
    setText(next);
    setError(null);
    show(null);
  };
  const save = async (): Promise<void> => {
    if (typeof parsed === "string") throw new Error(parsed);
    const { trigger, goal, steps, connections } = parsed;
    try {
      await api.automations.update(id, { trigger, goal, steps: [...steps], connections: [...connections], revision: automation.revision });
      toast(status === "ACTIVE" ? "Published" : "Saved");
      go(`/automations/${id}`);
    } catch (cause) {
      const refused = asRequestError(cause);
      setError(refused);
      if (refused.details.length === 0) throw cause;
    }
  };
  return (
    <Page
      title={`Edit ${name}`}
      back={{ href: toHref(`/automations/${id}`), name }}
      about={describeSaving(automation, stats.data?.inside ?? 0)}
      actions={
        status === "ACTIVE" ? (
          <ConfirmButton label="Publish" question="Publish these steps?" primary act={save}>
            <p>
              Contacts that enter from now on take them. {plural(stats.data?.inside ?? 0, "contact")} inside{" "}
              {stats.data?.inside === 1 ? "stays" : "stay"} in the version they entered.
            </p>
          </ConfirmButton>
        ) : (
          <SaveButton disabled={fault !== null || !changed} act={save} />
        )
      }
    >
      <div class="editor">
        <section class="definition" aria-label="The definition">
          <Toolbar
            disabled={fault !== null}
            drawn={drawn}
            chosen={chosen}
            names={names}
            add={(definition) => edit(formatDefinition({ ...drawn, ...definition }))}
          />
          <textarea
            ref={area}
            class="code"
            aria-label="The definition as JSON"
            aria-invalid={fault !== null || error !== null}
            spellcheck={false}
            wrap="off"
            value={text}
            onInput={({ currentTarget }) => edit(currentTarget.value)}
          />
          <Findings text={text} fault={fault} error={error} area={area} />
        </section>
        <div class="column">
          {drawn.steps.length === 0 ? (
            <Empty title="It has no steps yet">
              <p>Add the first one above the definition.</p>
            </Empty>
          ) : (
            <Flow
              definition={drawn}
              trigger={drawn.trigger}
              names={names}
              path={run === null ? null : { steps: run.path, next: null }}
              chosen={chosen}
              choose={choose}
            />
          )}
          <DryRun id={id} definition={typeof parsed === "string" ? drawn : parsed} version={null} names={names} run={run} show={show} />
        </div>
      </div>
    </Page>
  );
}

/** Tries all that the graph shows; throws for a step that cannot be shown. */
function drawAll(edited: Edited, names: Names): void {
  for (const step of edited.steps)
    if (describeStep(step, names) === undefined) throw new Error(`There is no step of the type ${step.type}.`);
  place(edited);
}

function describeSaving({ status }: AutomationDetail, inside: number): string {
  if (status === "DRAFT") return "This is a draft. Contacts enter once it is activated.";
  const stay = `${plural(inside, "contact")} inside ${inside === 1 ? "stays" : "stay"} in the version they entered.`;
  return status === "ACTIVE" ? `It is active: what you publish counts at once for contacts that enter. ${stay}` : `It is paused. ${stay}`;
}

function SaveButton({ disabled, act }: { readonly disabled: boolean; readonly act: () => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
    } catch (cause) {
      toast((cause as Error).message, { bad: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class="primary" disabled={disabled || busy} onClick={() => void run()}>
      Save
    </button>
  );
}

interface ToolbarProps {
  readonly disabled: boolean;
  readonly drawn: Edited;
  readonly chosen: string;
  readonly names: Names;
  readonly add: (definition: Pick<Edited, "steps" | "connections">) => void;
}

/** Adds steps, and says the ids that they can name. */
function Toolbar({ disabled, drawn, chosen, names, add }: ToolbarProps) {
  const step = drawn.steps.find(({ id }) => id === chosen);
  const after = step?.id ?? "trigger";
  const ends = step?.type === "exit";
  const types = Object.entries(SNIPPETS) as [AutomationStep["type"], (typeof SNIPPETS)["delay"]][];
  return (
    <div class="buttons">
      <select
        aria-label={`Add a step after ${after}`}
        disabled={disabled || ends}
        value=""
        onChange={({ currentTarget }) => {
          const type = currentTarget.value as AutomationStep["type"];
          currentTarget.value = "";
          if (type in SNIPPETS) add(addStep(drawn, type, after, pickIds(type, names)));
        }}
      >
        <option value="">{ends ? `Nothing follows ${after}` : `Add a step after ${after}…`}</option>
        {types.map(([type, { words }]) => (
          <option key={type} value={type}>
            {words}
          </option>
        ))}
      </select>
      {names.size === 0 ? null : (
        <details class="ids">
          <summary>Ids to use</summary>
          <ul>
            {[...names].map(([one, name]) => (
              <li key={one}>
                {name} <code class="soft">{one}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const NAMED: Readonly<Partial<Record<AutomationStep["type"], readonly [field: string, prefix: string]>>> = {
  send_email: ["templateId", "tpl_"],
  add_to_list: ["listId", "list_"],
  remove_from_list: ["listId", "list_"],
  webhook: ["webhookId", "whk_"],
};

/** The id of the first thing that a step of a type can name. */
function pickIds(type: AutomationStep["type"], names: Names): object {
  const [field, prefix] = NAMED[type] ?? [];
  const found = prefix === undefined ? undefined : [...names.keys()].find((one) => one.startsWith(prefix));
  return field === undefined || found === undefined ? {} : { [field]: found };
}

interface FindingsProps {
  readonly text: string;
  readonly fault: string | null;
  readonly error: RequestError | null;
  readonly area: { readonly current: HTMLTextAreaElement | null };
}

/** What is wrong, each at its line: a click puts the cursor there. */
function Findings({ text, fault, error, area }: FindingsProps) {
  const visit = (position: number | null): void => {
    if (position === null || !area.current) return;
    area.current.focus();
    area.current.setSelectionRange(position, position);
    const line = Number.parseFloat(getComputedStyle(area.current).lineHeight);
    area.current.scrollTop = Math.max(0, (lineOf(text, position) - 4) * line);
  };
  if (fault !== null)
    return (
      <p class="hint wrong" role="alert">
        {fault}
      </p>
    );
  if (error === null) return null;
  if (error.details.length === 0) return <ErrorNote error={error} />;
  return (
    <ul class="findings" role="alert">
      {error.details.map(({ path, message }) => {
        const position = locate(text, path);
        return (
          <li key={`${path} ${message}`}>
            <button type="button" class="link" onClick={() => visit(position)}>
              {position === null ? "" : `Line ${lineOf(text, position)}: `}
              {message}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
