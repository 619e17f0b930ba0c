/**
 * The text fields of a contact besides its address, each optional. Inputs, outputs, segment rules, CSV files and the server's
 * reads and writes follow from this list; a new field needs an entry here and a column in the server's `contacts/tables.ts`.
 */
export const CONTACT_TEXTS = {
  firstName: { maxLength: 100, description: "First name, up to 100 characters" },
  lastName: { maxLength: 100, description: "Last name, up to 100 characters" },
  phone: { maxLength: 30, description: "Phone number, up to 30 characters" },
} as const;

export type ContactTextField = keyof typeof CONTACT_TEXTS;

export const CONTACT_TEXT_FIELDS = Object.keys(CONTACT_TEXTS) as ContactTextField[];

/** Builds an object with a value for each text field of a contact. */
export function mapContactTexts<T>(toValue: (field: ContactTextField) => T): Record<ContactTextField, T> {
  return Object.fromEntries(CONTACT_TEXT_FIELDS.map((field) => [field, toValue(field)])) as Record<ContactTextField, T>;
}
