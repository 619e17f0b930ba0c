/** @jsxImportSource preact */
import type { AutomationDetail, AutomationStep, DryRun as Run } from "@mailsvc/sdk/contract";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import type { RequestError } from "../api/request-error.ts";
import { may } from "../api/session.ts";
import { after } from "../browser.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { type Edited, formatDefinition, isDrawable, listEdges, parseDefinition } from "../parts/automations/definition.ts";
import { DryRun } from "../parts/automations/dry-run.tsx";
import { Flow } from "../parts/automations/flow.tsx";
import { InsertStep } from "../parts/automations/insert-step.tsx";
import { JsonView } from "../parts/automations/json-view.tsx";
import { useNames } from "../parts/automations/names.ts";
import { addStep, pickIds } from "../parts/automations/snippets.ts";
import { StepsForm } from "../parts/automations/steps-form.tsx";
import { describeStep, type Names } from "../parts/automations/words.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Conflict } from "../parts/conflict.tsx";
import { Empty } from "../parts/empty.tsx";
import { useLeaveWarning } from "../parts/leave-warning.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { count as plural } from "../parts/plural.ts";
import { useResource } from "../parts/resource.ts";
import { useSending } from "../parts/sending.ts";
import { Tabs } from "../parts/tabs.tsx";
import { toast } from "../parts/toast.tsx";
import { useVersions } from "../parts/versions.ts";
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

const VIEWS = [
  { name: "steps", label: "Steps" },
  { name: "json", label: "JSON" },
];

function Editor({ automation }: { readonly automation: AutomationDetail }) {
  const { id, name, status } = automation;
  const names = useNames();
  const [text, setText] = useState(() => formatDefinition(automation));
  const [chosen, choose] = useState(() => automation.steps.findLast(({ type }) => type !== "exit")?.id ?? "trigger");
  const [run, show] = useState<Run | null>(null);
  const [pending, setPending] = useState<ReadonlySet<string>>(new Set());
  const { error, send, forget } = useSending();
  const stats = useResource((signal) => api.automations.stats(id, { signal }), [id]);
  const versions = useVersions({
    newest: automation,
    mine: text,
    pick: formatDefinition,
    load: () => api.automations.get(id, {}),
    show: (stored) => {
      setText(formatDefinition(stored));
      setPending(new Set());
    },
  });
  const { isChanged, theirs } = versions;
  const parsed = useMemo(() => parseDefinition(text), [text]);
  const fault = typeof parsed === "string" ? parsed : null;
  useLeaveWarning(isChanged, { links: true });
  const drawn = useDrawn(automation, parsed, names);
  const write = (next: string): void => {
    setText(next);
    forget();
    show(null);
  };
  const insert = (type: AutomationStep["type"], from: string, branch: string | null): void => {
    const edited = typeof parsed === "string" ? drawn : parsed;
    const next = addStep(edited, type, from, pickIds(type, names), branch);
    write(formatDefinition({ ...edited, ...next }));
    choose(next.steps.at(-1)?.id ?? chosen);
  };
  const save = async (): Promise<void> => {
    if (typeof parsed === "string") throw new Error(parsed);
    if (pending.size > 0) throw new Error("Some fields are not complete yet.");
    const { trigger, goal, steps, connections } = parsed;
    const definition = { trigger, goal, steps: [...steps], connections: [...connections] };
    if (!(await versions.save((revision) => api.automations.update(id, { ...definition, revision })))) return;
    toast(status === "ACTIVE" ? "Published" : "Saved");
    go(`/automations/${id}`);
  };
  const isReady = fault === null && pending.size === 0 && theirs === null;
  const inside = stats.data?.inside ?? 0;
  return (
    <Page
      title={`Edit ${name}`}
      back={{ href: toHref(`/automations/${id}`), name }}
      about={describeSaving(automation, inside)}
      actions={<SaveButton {...{ status, inside, isReady, isChanged }} save={async () => void (await send(save))} />}
    >
      {theirs === null ? null : (
        <Conflict
          what="automation"
          at={theirs.updatedAt}
          differing={[{ name: "definition", theirs: formatDefinition(theirs), mine: text }]}
          takeTheirs={versions.takeTheirs}
          keepMine={versions.keepMine}
        />
      )}
      <div class="editor">
        <section class="definition" aria-label="The definition">
          <Views
            text={text}
            write={write}
            parsed={parsed}
            error={error}
            drawn={drawn}
            chosen={chosen}
            choose={choose}
            names={names}
            pend={(path, isPending) => setPending((all) => (isPending === all.has(path) ? all : toggle(all, path)))}
          />
        </section>
        <div class="column">
          {drawn.steps.length === 0 ? (
            <Empty title="It has no steps yet">
              <p>Add the first one below what makes contacts enter.</p>
            </Empty>
          ) : (
            <Flow
              definition={drawn}
              trigger={drawn.trigger}
              names={names}
              path={run === null ? null : { steps: run.path, next: null }}
              chosen={chosen}
              choose={choose}
              onArrow={({ from, branch, middle, where }) => (
                <InsertStep at={middle} where={where} insert={(type) => insert(type, from, branch)} />
              )}
            />
          )}
          <DryRun id={id} definition={typeof parsed === "string" ? drawn : parsed} version={null} names={names} run={run} show={show} />
        </div>
      </div>
    </Page>
  );
}

/** The last definition that could be drawn, shortly after each change. */
function useDrawn(automation: AutomationDetail, parsed: Edited | string, names: Names): Edited {
  const [drawn, setDrawn] = useState<Edited>(automation);
  useEffect(
    () =>
      after(TYPING_MS, () => {
        if (typeof parsed === "string" || !isDrawable(parsed, (edited) => drawAll(edited, names))) return;
        setDrawn(parsed);
      }),
    [parsed, names],
  );
  return drawn;
}

interface SaveButtonProps {
  readonly status: AutomationDetail["status"];
  /** Number of contacts inside. */
  readonly inside: number;
  readonly isReady: boolean;
  readonly isChanged: boolean;
  readonly save: () => Promise<void>;
}

/** Saves the steps; of an active automation only after a question. */
function SaveButton({ status, inside, isReady, isChanged, save }: SaveButtonProps) {
  if (status !== "ACTIVE") return <ActionButton label="Save" primary disabled={!isReady || !isChanged} act={save} />;
  return (
    <ConfirmButton label="Publish" question="Publish these steps?" primary act={save}>
      <p>Contacts that enter from now on take them. {describeInside(inside)}</p>
    </ConfirmButton>
  );
}

function toggle(all: ReadonlySet<string>, one: string): ReadonlySet<string> {
  return all.has(one) ? new Set([...all].filter((other) => other !== one)) : new Set([...all, one]);
}

interface ViewsProps {
  readonly text: string;
  readonly write: (text: string) => void;
  /** Definition that the text holds, or the text's fault. */
  readonly parsed: Edited | string;
  readonly error: RequestError | null;
  readonly drawn: Edited;
  readonly chosen: string;
  readonly choose: (id: string) => void;
  readonly names: Names;
  readonly pend: (path: string, isPending: boolean) => void;
}

/** The definition as a form, and as JSON: two views of one text. */
function Views({ text, write, parsed, error, drawn, chosen, choose, names, pend }: ViewsProps) {
  const [view, setView] = useState("steps");
  const fault = typeof parsed === "string" ? parsed : null;
  return (
    <Tabs label="The definition" tabs={VIEWS} chosen={view} choose={setView}>
      {view === "json" ? (
        <JsonView
          {...{ text, write, fault, error, drawn, chosen, names }}
          add={(definition) => write(formatDefinition({ ...drawn, ...definition }))}
        />
      ) : typeof parsed === "string" ? (
        <p class="hint wrong" role="alert">
          The JSON is not complete: {parsed}
        </p>
      ) : (
        <>
          {error === null ? null : (
            <p class="hint wrong" role="alert">
              {error.message}
            </p>
          )}
          <StepsForm {...{ names, error, chosen, choose, pend }} edited={parsed} change={(edited) => write(formatDefinition(edited))} />
        </>
      )}
    </Tabs>
  );
}

/** Tries all that the graph shows; throws for a step that cannot be shown. */
function drawAll(edited: Edited, names: Names): void {
  for (const step of edited.steps)
    if (describeStep(step, names) === undefined) throw new Error(`There is no step of the type ${step.type}.`);
  listEdges(edited);
}

function describeSaving({ status }: AutomationDetail, inside: number): string {
  if (status === "DRAFT") return "This is a draft. Contacts enter once it is activated.";
  const stay = describeInside(inside);
  return status === "ACTIVE" ? `It is active: what you publish counts at once for contacts that enter. ${stay}` : `It is paused. ${stay}`;
}

function describeInside(inside: number): string {
  return `${plural(inside, "contact")} inside ${inside === 1 ? "stays" : "stay"} in the version they entered.`;
}
