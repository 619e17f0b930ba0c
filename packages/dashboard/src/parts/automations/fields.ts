import type { ReferenceField } from "@mailsvc/sdk/contract";

/** Type of a step's field. */
type Shape =
  | { readonly kind: "text"; readonly max?: number }
  | { readonly kind: "number"; readonly min?: number; readonly max?: number }
  | { readonly kind: "date" | "time" | "flag" }
  | { readonly kind: "choice" | "choices"; readonly options: readonly string[] }
  /** A rule about contacts. */
  | { readonly kind: "rule" }
  /** Whatever JSON the server takes. */
  | { readonly kind: "json" }
  /** Names with plain values. */
  | { readonly kind: "record" }
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "rows"; readonly fields: readonly Field[]; readonly min?: number; readonly max?: number }
  /** An object with a type, and what the type needs. */
  | { readonly kind: "oneOf"; readonly variants: Readonly<Record<string, readonly Field[]>> };

/** A field of a step, as the contract describes it: see `step-fields.generated.ts`. */
export type Field = Shape & { readonly name: string; readonly required?: boolean; readonly hint?: string };

/** The values of fields by their names. */
export type Values = Readonly<Record<string, unknown>>;

/** Id prefixes of referenced objects, by field name. */
export const REFERENCES: Readonly<Record<string, string>> = {
  templateId: "tpl_",
  listId: "list_",
  segmentId: "seg_",
  webhookId: "whk_",
} satisfies Record<ReferenceField, string>;

const LABELS: Readonly<Record<string, string>> = {
  templateId: "Template",
  listId: "List",
  segmentId: "Segment",
  webhookId: "Webhook",
  for: "How long",
  timeout: "How long at most",
  event: "What happens",
  rule: "Condition",
  set: "Fields to set",
  filter: "Only events that match",
  field: "Custom field with the date",
  days: "Days after it",
  yearly: "Every year",
};

/** The label of a field. */
export function labelField(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** An object with a field set, or without it where it is empty. */
export function setField(values: Values, { name, required = false }: Field, value: unknown): Values {
  const { [name]: _, ...others } = values;
  const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  if (isEmpty && !required) return others;
  // In its old place: the JSON next to the form stays as it was but for this.
  return { ...values, [name]: value ?? "" };
}
