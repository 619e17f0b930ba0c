/** @jsxImportSource preact */
import type { CampaignDetail, Sender, Variant } from "@mailsvc/sdk/contract";
import { useId } from "preact/hooks";
import { withoutPath } from "../../api/request-error.ts";
import { Field } from "../field.tsx";
import { findMessages, isAbout } from "../field-messages.ts";
import { formatReplyTo, parseReplyTo } from "../reply-to.ts";
import { formatShare } from "../share.ts";
import type { CampaignDraft } from "./draft.ts";

type TextName = "name" | "subjectLine" | "previewText" | "fromEmail" | "fromName" | "replyTo" | "relay" | "html" | "text";

interface Props {
  readonly draft: CampaignDraft;
}

/** The attributes of an element for a text. An empty one removes a field that may be absent. */
export function bindText(draft: CampaignDraft, name: TextName, { required = false } = {}) {
  const isReplyTo = name === "replyTo";
  return {
    value: isReplyTo ? formatReplyTo(draft.fields.value.replyTo) : (draft.fields.value[name] ?? ""),
    "aria-invalid": findMessages(draft.error.value, name) !== "",
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      draft.set({ [name]: value === "" && !required ? null : isReplyTo ? parseReplyTo(value) : value }),
  };
}

/** Sender of the mail. */
export function SenderFields({ draft, senders }: Props & { readonly senders: readonly Sender[] }) {
  const id = useId();
  const error = draft.error.value;
  const verified = senders.filter(({ status }) => status === "VERIFIED");
  return (
    <section class="card form" aria-labelledby={`${id}-head`}>
      <h2 id={`${id}-head`}>Sender</h2>
      <div class="fields-row">
        <Field label="From name" error={findMessages(error, "fromName")}>
          <input {...bindText(draft, "fromName")} autocomplete="off" placeholder="Acme" maxLength={200} />
        </Field>
        <Field label="From address" error={findMessages(error, "fromEmail")}>
          <input {...bindText(draft, "fromEmail", { required: true })} type="email" list={id} autocomplete="off" spellcheck={false} />
        </Field>
      </div>
      <datalist id={id}>
        {verified.map((sender) => (
          <option key={sender.id} value={sender.kind === "address" ? sender.value : `hello@${sender.value}`} />
        ))}
      </datalist>
      <Field
        label="Replies go to"
        hint="Empty: where the template says, or the from address. Separate several by commas."
        error={findMessages(error, "replyTo")}
      >
        <input {...bindText(draft, "replyTo")} autocomplete="off" spellcheck={false} />
      </Field>
    </section>
  );
}

/** The subject, and other ones to try on a sample. */
export function SubjectFields({ draft }: Props) {
  const error = draft.error.value;
  const { abTest } = draft.fields.value;
  return (
    <section class="card form" aria-label="Subject">
      <h2>Subject</h2>
      <Field label={abTest === null ? "Subject" : "Subject of variant A"} error={findMessages(error, "subjectLine")}>
        <input {...bindText(draft, "subjectLine", { required: true })} autocomplete="off" maxLength={998} />
      </Field>
      <Field
        label={abTest === null ? "Preview text" : "Preview text of variant A"}
        hint="Mail programs show it next to the subject."
        error={findMessages(error, "previewText")}
      >
        <input {...bindText(draft, "previewText")} autocomplete="off" maxLength={200} />
      </Field>
      {abTest === null ? (
        <div class="buttons">
          <button type="button" onClick={() => draft.set({ abTest: { variants: [{}, {}], ...AB_DEFAULTS } })}>
            Test another subject
          </button>
        </div>
      ) : (
        <AbTestFields draft={draft} test={abTest} />
      )}
    </section>
  );
}

type AbTest = NonNullable<CampaignDetail["abTest"]>;

const AB_DEFAULTS = { samplePercent: 20, winner: "opens", decideAfterMinutes: 240 } as const;
const NAMES = ["A", "B", "C", "D", "E"] as const;
const DECIDE = [
  [60, "1 hour"],
  [120, "2 hours"],
  [240, "4 hours"],
  [720, "12 hours"],
  [1440, "1 day"],
  [2880, "2 days"],
  [10_080, "1 week"],
] as const;

function AbTestFields({ draft, test }: Props & { readonly test: AbTest }) {
  const { variants, samplePercent, winner, decideAfterMinutes } = test;
  const set = (change: Partial<AbTest>): void => draft.set({ abTest: { ...test, ...change } });
  const setVariant = (at: number, { subjectLine, previewText, ...rest }: Variant): void =>
    set({
      variants: variants.map((one, i) =>
        i === at ? { ...rest, ...(subjectLine && { subjectLine }), ...(previewText && { previewText }) } : one,
      ),
    });
  // Messages other than those shown at a variant's own text fields.
  const others = draft.error.value?.details.filter(({ path }) => !/^abTest\.variants\[\d+\]\.(?:subjectLine|previewText)$/.test(path));
  const wrong = (others ?? []).flatMap(({ path, message }) => (isAbout(path, "abTest") ? [withoutPath(message, path)] : [])).join(" ");
  const lengths = DECIDE.some(([minutes]) => minutes === decideAfterMinutes)
    ? DECIDE
    : [...DECIDE, [decideAfterMinutes, `${decideAfterMinutes} minutes`] as const];
  return (
    <>
      {variants.slice(1).map((variant, i) => (
        <VariantFields
          key={i}
          at={i + 1}
          variant={variant}
          draft={draft}
          set={(change) => setVariant(i + 1, { ...variant, ...change })}
          remove={() => (variants.length > 2 ? set({ variants: variants.filter((_, at) => at !== i + 1) }) : draft.set({ abTest: null }))}
        />
      ))}
      {variants.length < NAMES.length ? (
        <div class="buttons">
          <button type="button" onClick={() => set({ variants: [...variants, {}] })}>
            Add variant {NAMES[variants.length]}
          </button>
        </div>
      ) : null}
      <div class="fields-row">
        <Field
          label="Try them on"
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
      {samplePercent === 100 || winner === "manual" ? null : (
        <Field label="Decided after">
          <select value={decideAfterMinutes} onChange={({ currentTarget }) => set({ decideAfterMinutes: Number(currentTarget.value) })}>
            {lengths.map(([minutes, words]) => (
              <option key={minutes} value={minutes}>
                {words}
              </option>
            ))}
          </select>
        </Field>
      )}
      {wrong === "" ? null : (
        <p class="hint wrong" role="alert">
          {wrong}
        </p>
      )}
    </>
  );
}

interface VariantProps extends Props {
  /** Its place among the variants; A is 0. */
  readonly at: number;
  readonly variant: Variant;
  readonly set: (change: Variant) => void;
  readonly remove: () => void;
}

/** Fields in which a variant differs from the first. */
function VariantFields({ draft, at, variant, set, remove }: VariantProps) {
  return (
    <fieldset class="variant">
      <legend>Variant {NAMES[at]}</legend>
      <Field
        label="Subject"
        hint={variant.subjectLine ? undefined : "Empty for that of variant A."}
        error={findMessages(draft.error.value, `abTest.variants[${at}].subjectLine`)}
      >
        <input
          value={variant.subjectLine ?? ""}
          maxLength={998}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => set({ subjectLine: value })}
        />
      </Field>
      <Field label="Preview text" error={findMessages(draft.error.value, `abTest.variants[${at}].previewText`)}>
        <input
          value={variant.previewText ?? ""}
          maxLength={200}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => set({ previewText: value })}
        />
      </Field>
      {variant.html || variant.text || variant.templateId ? <p class="hint soft">It also has its own content.</p> : null}
      <div class="buttons">
        <button type="button" class="quiet" onClick={remove}>
          Remove variant {NAMES[at]}
        </button>
      </div>
    </fieldset>
  );
}
