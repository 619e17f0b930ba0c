import { UsageError } from "../errors.ts";

/** Headers to send, name to value; undefined removes a header. */
export type HeaderInput = Readonly<Record<string, string | undefined>>;

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
// Visible ASCII, space and tab, which every HTTP implementation accepts.
const VALUE = /^[\t\x20-\x7e]*$/;
const SENSITIVE = /^(?:authorization|proxy-authorization|cookie|x-api-key)$/;

/** Validates one header; the message names it by `label` and never shows its value. Throws UsageError. */
export function checkHeader(name: string, value: unknown, label = `The header ${name}`): void {
  if (!NAME.test(name)) throw new UsageError({ message: "A header name may hold letters, digits and dashes only." });
  if (typeof value !== "string" || !VALUE.test(value)) {
    throw new UsageError({ message: `${label} must be a text of plain ASCII without line breaks.` });
  }
}

/** Merges headers; later layers win, names become lower case. Throws UsageError. */
export function mergeHeaders(...layers: (HeaderInput | undefined)[]): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer ?? {})) {
      if (value === undefined) delete merged[name.toLowerCase()];
      else {
        checkHeader(name, value);
        merged[name.toLowerCase()] = value;
      }
    }
  }
  return merged;
}

/** The header values that must never be shown, including the key after `Bearer `. */
function findSecrets(headers: Readonly<Record<string, string>>): string[] {
  return (
    Object.entries(headers)
      .filter(([name]) => SENSITIVE.test(name))
      .flatMap(([, value]) => [value, value.replace(/^\w+ /, "")])
      // The name of a scheme without a key is no secret.
      .filter((secret) => secret.length >= 4 && !/^\w+ $/.test(secret))
  );
}

/** Creates a function that redacts the secrets of headers in a text. They are looked for only then: few calls fail. */
export function createRedactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  return (text) => findSecrets(headers).reduce((shown, secret) => shown.replaceAll(secret, "[redacted]"), text);
}
