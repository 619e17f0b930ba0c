/** @jsxImportSource preact */
import { CONTACT_TEXT_FIELDS, labelContactText } from "@mailsvc/sdk/contract/facts";
import { CELL_TYPES, type CellType } from "../../../../sdk/src/contact-files/cells.ts";
import { type ColumnTarget, formatTarget, listShared } from "../../../../sdk/src/contact-files/columns.ts";
import type { ConsentKind } from "../../../../sdk/src/contact-files/consent.ts";
import type { OpenFile } from "./opened-file.ts";

interface Props {
  readonly file: OpenFile;
  readonly targets: readonly ColumnTarget[];
  readonly change: (targets: ColumnTarget[]) => void;
}

const FIELDS: Readonly<Record<string, string>> = {
  email: "Email address",
  externalId: "Your own id",
  ...Object.fromEntries(CONTACT_TEXT_FIELDS.map((field) => [field, labelContactText(field)])),
  tags: "Tags",
};

/** The ways in which a column says who wants mail. */
const CONSENT: Readonly<Record<ConsentKind, string>> = {
  status: "Status of the subscription",
  "opt-in": "Opt-in: yes means mail",
  "opt-out": "Opt-out: yes means no mail",
  "opt-out-detail": "Opt-out: any text means no mail",
};

const TYPE_WORDS: Readonly<Record<CellType, string>> = {
  text: "as text",
  number: "as number",
  boolean: "as yes or no",
  date: "as date",
  json: "as JSON",
};

/** The first rows of a file, and above each column what it becomes. */
export function ColumnTable({ file, targets, change }: Props) {
  const { names, sample, format } = file;
  const set = (at: number, target: ColumnTarget): void => change(targets.map((one, i) => (i === at ? target : one)));
  return (
    <div class="sheet" tabIndex={0} role="region" aria-label="The first rows of the file">
      <table>
        <thead>
          <tr>
            {names.map((name, i) => (
              <th key={`${i} ${name}`} scope="col" class={targets[i]?.to === "ignored" ? "left-out" : ""}>
                <span class="column-name">{name || `Column ${i + 1}`}</span>
                <Target
                  name={name || `column ${i + 1}`}
                  target={targets[i] ?? { to: "ignored" }}
                  typed={format === "csv"}
                  set={(target) => set(i, target)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((cells, row) => (
            <tr key={row}>
              {names.map((_, i) => (
                <td key={i} class={targets[i]?.to === "ignored" ? "left-out" : ""} title={cells[i]}>
                  {cells[i]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TargetProps {
  readonly name: string;
  readonly target: ColumnTarget;
  /** True if the cells are text that can be read as another type. */
  readonly typed: boolean;
  readonly set: (target: ColumnTarget) => void;
}

function Target({ name, target, typed, set }: TargetProps) {
  const choose = (value: string): void => {
    if (value === "ignored" || value === "customFields") set({ to: value });
    else if (value in CONSENT) set({ to: "consent", kind: value as ConsentKind });
    else if (value === "custom") set({ to: "custom", key: target.to === "custom" ? target.key : name, type: undefined });
    else set({ to: "field", field: value });
  };
  return (
    <>
      <select
        aria-label={`${name} becomes`}
        value={target.to === "field" ? target.field : target.to === "consent" ? target.kind : target.to}
        aria-invalid={target.to === "unclear"}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {target.to === "unclear" ? <option value="unclear">Choose…</option> : null}
        <option value="ignored">Do not import</option>
        {Object.entries(FIELDS).map(([field, text]) => (
          <option key={field} value={field}>
            {text}
          </option>
        ))}
        {Object.entries(CONSENT).map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
        <option value="custom">Custom field</option>
        <option value="customFields">Custom fields, as JSON</option>
      </select>
      {target.to === "custom" ? (
        <span class="pair">
          <input
            aria-label={`Custom field of ${name}`}
            value={target.key}
            spellcheck={false}
            onInput={({ currentTarget }) => set({ to: "custom", key: currentTarget.value, type: target.type })}
          />
          {typed ? (
            <select
              aria-label={`Type of ${name}`}
              value={target.type ?? ""}
              onChange={({ currentTarget }) =>
                set({ to: "custom", key: target.key, type: (currentTarget.value || undefined) as CellType | undefined })
              }
            >
              <option value="">as it looks</option>
              {CELL_TYPES.map((type) => (
                <option key={type} value={type}>
                  {TYPE_WORDS[type]}
                </option>
              ))}
            </select>
          ) : null}
        </span>
      ) : null}
    </>
  );
}

/** Describes a fault in the columns; null when the file can be imported. */
export function findColumnFault(names: readonly string[], targets: readonly ColumnTarget[]): string | null {
  const unclear = targets.findIndex(({ to }) => to === "unclear");
  if (unclear !== -1)
    return `“${names[unclear]}” may say who wants mail and who does not. Choose whether yes means mail, yes means no mail, or keep it as a custom field.`;
  const keys = targets.map(formatTarget);
  if (!keys.includes("email")) return "Choose the column with the email address.";
  return targets.some((target) => target.to === "custom" && target.key.trim() === "") ? "Give the custom field a name." : null;
}

/** Fields that several columns fill. */
export function SharedFields({ names, targets }: { readonly names: readonly string[]; readonly targets: readonly ColumnTarget[] }) {
  const columns = targets.map((target, i) => ({
    name: names[i] || `Column ${i + 1}`,
    field: target.to === "ignored" || target.to === "unclear" ? null : formatTarget(target),
  }));
  return (
    <>
      {listShared(columns).map(({ field, names: own }) => (
        <p key={field} class="soft">
          {FIELDS[field] ?? field.replace(/^custom\./, "Custom field ")}: of {own.map((name) => `“${name}”`).join(", ")} the first that is
          not empty.
        </p>
      ))}
    </>
  );
}
