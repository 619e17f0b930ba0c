/** The fields of steps, triggers and goals that hold the id of something else: what that is, and what it is called by in files. */
export const REFERENCES = {
  templateId: { label: "template", by: "slug" },
  listId: { label: "list", by: "name" },
  segmentId: { label: "segment", by: "name" },
  webhookId: { label: "webhook", by: "URL" },
} as const;
export type ReferenceField = keyof typeof REFERENCES;

/** True if a field of a step, trigger or goal holds the id of another object. */
export function isReferenceField(field: string): field is ReferenceField {
  return Object.hasOwn(REFERENCES, field);
}

/** The ids that the fields of a step, trigger or goal hold. */
export function listReferences(part: object): { readonly field: ReferenceField; readonly id: string }[] {
  return Object.entries(part).flatMap(([field, id]) => (isReferenceField(field) ? [{ field, id: String(id) }] : []));
}
