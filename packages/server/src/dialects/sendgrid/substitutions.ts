import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import { invalid } from "../../lib/api-error.ts";
import { waitForTurn } from "../../lib/turn.ts";
import { MB } from "../../lib/units.ts";

/** SendGrid's own limit: what the keys and values of a personalization take in all, bytes. */
const MAX_SUBSTITUTIONS = 10_000;
/** Maximum length of the texts of all mails of a request, in characters: as much as a body with each of them written out. */
const MAX_TEXTS = 30 * MB;
const PER_TURN = 10_000;

/** Counts the texts of a request. Throws ApiError validation_error once they are too long. */
export class TextBudget {
  #left = MAX_TEXTS;

  take(text: string): void {
    this.#left -= text.length;
    if (this.#left >= 0) return;
    const message = `The texts of all personalizations take more than ${MAX_TEXTS / MB} MB together. Send fewer personalizations in one request.`;
    throw invalid("personalizations", "too_big", message);
  }
}

/** Puts values into a text, of which `field` is the place in the request. */
export type Fill = (text: string, field: string) => Promise<string>;

/**
 * Makes a function that replaces each key, as it stands there, by its value: in one pass over the text, the longest of several keys
 * first. Values are not searched for keys. Throws ApiError validation_error for a text or for substitutions that are too long.
 */
export function createFill(substitutions: Readonly<Record<string, string>>, at: string, budget: TextBudget): Fill {
  const values = new Map(Object.entries(substitutions).filter(([key]) => key !== ""));
  const bytes = [...values].reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > MAX_SUBSTITUTIONS)
    throw invalid(`${at}.substitutions`, "too_big", `substitutions take ${bytes} bytes; ${MAX_SUBSTITUTIONS} are allowed.`);
  const keys = [...values.keys()].sort((one, other) => other.length - one.length);
  const pattern = keys.length === 0 ? null : new RegExp(keys.map((key) => key.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
  return async (text, field) => {
    const filled = pattern === null ? text : await replaceAll(text, pattern, values, field);
    budget.take(filled);
    return filled;
  };
}

async function replaceAll(text: string, pattern: RegExp, values: ReadonlyMap<string, string>, field: string): Promise<string> {
  let filled = "";
  let from = 0;
  let count = 0;
  for (const { 0: key, index } of text.matchAll(pattern)) {
    filled += text.slice(from, index) + (values.get(key) ?? "");
    from = index + key.length;
    if (filled.length > SEND_LIMITS.content)
      throw invalid(field, "too_big", `With its substitutions ${field} takes more than ${SEND_LIMITS.content / MB} MB.`);
    count += 1;
    if (count % PER_TURN === 0) await waitForTurn();
  }
  return filled + text.slice(from);
}
