import type { FormField, PageForm } from "@mailsvc/sdk/contract";
import { escapeHtml } from "../../../lib/html.ts";

/** Left empty by people, who do not see it. */
export const TRAP = "topic";

/** What was wrong with a form that was sent: a sentence for each field. */
export interface Faults {
  readonly values: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, string>>;
}

type Field = "email" | FormField;

const FIELDS: Readonly<Record<Field, { label: string; type: string; complete: string; max: number }>> = {
  email: { label: "Email address", type: "email", complete: "email", max: 254 },
  firstName: { label: "First name", type: "text", complete: "given-name", max: 100 },
  lastName: { label: "Last name", type: "text", complete: "family-name", max: 100 },
  phone: { label: "Phone", type: "tel", complete: "tel", max: 30 },
};

/** What people agree to by sending a form. */
export function consentOf(form: PageForm | null, brandName: string): string {
  return form?.consentText ?? `By signing up you agree that ${brandName} sends you email. You can unsubscribe at any time.`;
}

/** The sign-up form. `action` is the path of its page. */
export function formHtml(form: PageForm | null, action: string, brandName: string, faults: Faults | null): string {
  const consent = escapeHtml(consentOf(form, brandName));
  const [attributes, text] = wrongOf("consent", faults);
  const agree = form?.consentCheckbox
    ? `<p class="agree"><input id="consent" name="consent" type="checkbox" value="yes" required${attributes}><label for="consent">${consent}</label></p>${text}`
    : "";
  const title = form?.title ? `<h2>${escapeHtml(form.title)}</h2>` : "";
  const fields = (["email", ...new Set(form?.fields)] as Field[]).map((name) => field(name, form, faults)).join("");
  const trap = `<p class="rest" aria-hidden="true"><label for="${TRAP}">Leave this empty</label><input id="${TRAP}" name="${TRAP}" type="text" tabindex="-1" autocomplete="off"></p>`;
  return `<form class="signup" id="signup" method="post" action="${action}#signup" accept-charset="utf-8">${title}${fields}${trap}${agree}<button type="submit">${escapeHtml(
    form?.button ?? "Sign up",
  )}</button>${form?.consentCheckbox ? "" : `<p class="consent">${consent}</p>`}</form>`;
}

function wrongOf(name: string, faults: Faults | null): [attributes: string, text: string] {
  const text = faults?.wrong[name];
  return text === undefined
    ? ["", ""]
    : [` aria-invalid="true" aria-describedby="wrong-${name}"`, `<div class="wrong" id="wrong-${name}">${escapeHtml(text)}</div>`];
}

function field(name: Field, form: PageForm | null, faults: Faults | null): string {
  const { label, type, complete, max } = FIELDS[name];
  const [attributes, text] = wrongOf(name, faults);
  const value = faults?.values[name];
  return `<p><label for="${name}">${escapeHtml(form?.labels?.[name] ?? label)}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${complete}" maxlength="${max}"${
    name === "email" ? " required" : ""
  }${value ? ` value="${escapeHtml(value)}"` : ""}${attributes}></p>${text}`;
}
