/** @jsxImportSource preact */
import type { CampaignDetail, Template, Variant } from "@mailsvc/sdk/contract";
import { useRef } from "preact/hooks";
import { withoutPath } from "../../api/request-error.ts";
import { LazyBlockEditor } from "../blocks/lazy-block-editor.tsx";
import { Field } from "../field.tsx";
import { findMessages, isAbout } from "../field-messages.ts";
import { formatShare } from "../share.ts";
import { isSendable } from "../templates/all.ts";
import type { CampaignDraft } from "./draft.ts";
import { SourceText } from "./source-text.tsx";
import { VARIANTS } from "./states.ts";

type AbTest = NonNullable<CampaignDetail["abTest"]>;

/** The test of a campaign that has none yet: two variants that are alike. */
export const NEW_TEST: AbTest = { variants: [{}, {}], samplePercent: 20, winner: "opens", decideAfterMinutes: 240 };

const DECIDE = [
  [60, "1 hour"],
  [120, "2 hours"],
  [240, "4 hours"],
  [720, "12 hours"],
  [1440, "1 day"],
  [2880, "2 days"],
  [10_080, "1 week"],
] as const;

interface Props {
  readonly draft: CampaignDraft;
  readonly templates: readonly Template[];
}

/** The variants of an A/B test, and how the winner is decided. */
export function AbTestFields({ draft, templates, test }: Props & { readonly test: AbTest }) {
  const { variants, samplePercent, winner } = test;
  const set = (change: Partial<AbTest>): void => draft.set({ abTest: { ...test, ...change } });
  const setVariant = (at: number, variant: Variant): void => {
    const given = Object.fromEntries(Object.entries(variant).filter(([, value]) => value !== undefined && value !== ""));
    set({ variants: variants.map((one, i) => (i === at ? given : one)) });
  };
  // Messages other than those shown at a variant's own fields.
  const others = draft.error.value?.details.filter(({ path }) => !/^abTest\.variants\[\d+\]\.\w/.test(path));
  const wrong = (others ?? []).flatMap(({ path, message }) => (isAbout(path, "abTest") ? [withoutPath(message, path)] : [])).join(" ");
  return (
    <>
      {variants.slice(1).map((variant, i) => (
        <VariantFields
          key={i}
          {...{ draft, templates, variant }}
          at={i + 1}
          set={(change) => setVariant(i + 1, { ...variant, ...change })}
          remove={() => (variants.length > 2 ? set({ variants: variants.filter((_, at) => at !== i + 1) }) : draft.set({ abTest: null }))}
        />
      ))}
      {variants.length < VARIANTS.length ? (
        <div class="buttons">
          <button type="button" onClick={() => set({ variants: [...variants, {}] })}>
            Add variant {VARIANTS[variants.length]}
          </button>
        </div>
      ) : null}
      <div class="fields-row">
        <Field
          label="Test on"
          hint={samplePercent === 100 ? "Everybody gets one of them; there is no winner." : "The others get the winner."}
        >
          <select value={samplePercent} onChange={({ currentTarget }) => set({ samplePercent: Number(currentTarget.value) })}>
            {[...new Set([5, 10, 20, 30, 50, 100, samplePercent])]
              .sort((a, b) => a - b)
              .map((percent) => (
                <option key={percent} value={percent}>
                  {percent === 100 ? "everybody" : `${formatShare(percent / 100)} of the audience`}
                </option>
              ))}
          </select>
        </Field>
        {samplePercent === 100 ? null : (
          <Field label="The winner has">
            <select value={winner} onChange={({ currentTarget }) => set({ winner: currentTarget.value as AbTest["winner"] })}>
              <option value="opens">the most opens</option>
              <option value="clicks">the most clicks</option>
              <option value="manual">my choice</option>
            </select>
          </Field>
        )}
      </div>
      {samplePercent === 100 || winner === "manual" ? null : <DecisionField test={test} set={set} />}
      {wrong === "" ? null : (
        <p class="hint wrong" role="alert">
          {wrong}
        </p>
      )}
    </>
  );
}

function DecisionField({ test: { decideAfterMinutes }, set }: { readonly test: AbTest; readonly set: (change: Partial<AbTest>) => void }) {
  const lengths = DECIDE.some(([minutes]) => minutes === decideAfterMinutes)
    ? DECIDE
    : [...DECIDE, [decideAfterMinutes, `${decideAfterMinutes} minutes`] as const];
  return (
    <Field label="Decided after">
      <select value={decideAfterMinutes} onChange={({ currentTarget }) => set({ decideAfterMinutes: Number(currentTarget.value) })}>
        {lengths.map(([minutes, words]) => (
          <option key={minutes} value={minutes}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface VariantProps extends Props {
  /** Its place among the variants; A is 0. */
  readonly at: number;
  readonly variant: Variant;
  /** Takes fields; one that is empty or undefined goes back to that of variant A. */
  readonly set: (change: { [Name in keyof Variant]?: Variant[Name] | undefined }) => void;
  readonly remove: () => void;
}

/** Fields in which a variant differs from the first. */
function VariantFields(props: VariantProps) {
  const { draft, at, variant, set, remove } = props;
  const wrong = (field: string): string => findMessages(draft.error.value, `abTest.variants[${at}].${field}`);
  return (
    <fieldset class="variant">
      <legend>Variant {VARIANTS[at]}</legend>
      <Field label="Subject" hint={variant.subjectLine ? undefined : "Empty for that of variant A."} error={wrong("subjectLine")}>
        <input
          value={variant.subjectLine ?? ""}
          maxLength={998}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => set({ subjectLine: value })}
        />
      </Field>
      <Field label="Preview text" error={wrong("previewText")}>
        <input
          value={variant.previewText ?? ""}
          maxLength={200}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => set({ previewText: value })}
        />
      </Field>
      <VariantContent {...props} wrong={wrong} />
      <div class="buttons">
        <button type="button" class="quiet" onClick={remove}>
          Remove variant {VARIANTS[at]}
        </button>
      </div>
    </fieldset>
  );
}

type Source = "same" | "blocks" | "templateId" | "html";

type OwnContent = Pick<Variant, "blocks" | "templateId" | "html" | "text">;

// No content is none of its own, so this stands for HTML that is not written yet.
const NOTHING = " ";

const SAME = { blocks: undefined, templateId: undefined, html: undefined, text: undefined };

/** Content of a variant: that of variant A, or its own, which begins as a copy of it. */
function VariantContent({ draft, templates, at, variant, set, wrong }: VariantProps & { readonly wrong: (field: string) => string }) {
  const { blocks, templateId, html, text } = variant;
  const source: Source = blocks
    ? "blocks"
    : templateId !== undefined
      ? "templateId"
      : html !== undefined || text !== undefined
        ? "html"
        : "same";
  const campaign = draft.fields.value;
  const sendable = templates.filter((one) => one.version !== null && isSendable(one));
  // Keeps the own content while the person tries something else.
  const written = useRef<Partial<Record<Source, OwnContent>>>({});
  if (source !== "same") written.current[source] = { blocks, templateId, html, text } as OwnContent;
  const begin = (to: Source): OwnContent => {
    if (to === "blocks") return { blocks: campaign.blocks ?? [] };
    if (to === "html") return { html: campaign.html ?? NOTHING };
    return to === "templateId" ? { templateId: sendable.find(({ id }) => id !== campaign.templateId)?.id ?? sendable[0]?.id ?? "" } : {};
  };
  const name = VARIANTS[at] ?? "";
  return (
    <>
      <Field label="Content" error={wrong("templateId")}>
        <select
          value={source}
          onChange={({ currentTarget }) => {
            const to = currentTarget.value as Source;
            set({ ...SAME, ...(written.current[to] ?? begin(to)) });
          }}
        >
          <option value="same">That of variant A</option>
          <option value="blocks">Its own blocks</option>
          {sendable.length === 0 && source !== "templateId" ? null : <option value="templateId">Another template</option>}
          <option value="html">Its own HTML</option>
        </select>
      </Field>
      {source === "blocks" ? (
        <LazyBlockEditor
          name={`Blocks of variant ${name}`}
          blocks={blocks ?? []}
          messages={(path) => wrong(path)}
          change={(next) => set({ ...SAME, blocks: next })}
        />
      ) : null}
      {source === "templateId" ? (
        <Field label={`Template of variant ${name}`}>
          <select value={templateId} onChange={({ currentTarget }) => set({ ...SAME, templateId: currentTarget.value })}>
            {sendable.some(({ id }) => id === templateId) ? null : <option value={templateId}>Deleted template</option>}
            {sendable.map(({ id, name: title, version }) => (
              <option key={id} value={id}>
                {title}, version {version}
              </option>
            ))}
          </select>
        </Field>
      ) : null}
      {source === "html" ? (
        <SourceText
          label={`HTML of variant ${name}`}
          value={html === NOTHING ? "" : (html ?? "")}
          error={wrong("html") || wrong("text")}
          change={(next) => set({ ...SAME, text, html: next || NOTHING })}
        />
      ) : null}
    </>
  );
}
