import { CONTACT_TEXTS } from "@mailsvc/sdk/contract/facts";

/** A variable that can be put into a text. */
export interface VariableChoice {
  readonly name: string;
  readonly label: string;
  /** True for an address, which makes sense as a link only. */
  readonly isLink?: boolean;
}

const OWN: readonly VariableChoice[] = [
  { name: "unsubscribeUrl", label: "Link to unsubscribe", isLink: true },
  { name: "viewInBrowserUrl", label: "Link to the mail in a browser", isLink: true },
];

/** The variables of mail to contacts: their fields, custom ones, and the links of the service. */
export function listContactVariables(customFields: readonly string[]): VariableChoice[] {
  const texts = Object.entries(CONTACT_TEXTS).map(([name, { noun }]) => ({ name, label: noun.charAt(0).toUpperCase() + noun.slice(1) }));
  // Other names cannot be written without brackets.
  const custom = customFields.filter((name) => /^[A-Za-z_$][\w$-]*$/.test(name)).map((name) => ({ name, label: name }));
  return [...texts, { name: "email", label: "Email address" }, ...custom, ...OWN];
}

/** A variable as it is written into a text; with a fallback for those who have no value. */
export function writeVariable(name: string, fallback: string): string {
  // A quote would end the fallback, and braces the variable.
  const words = fallback.replace(/["{}<>]/g, "").trim();
  return words === "" ? `{{${name}}}` : `{{default ${name} "${words}"}}`;
}
