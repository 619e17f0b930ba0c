import { findInexactNumber } from "@mailsvc/sdk/contract";
import { usageError } from "../runtime/errors.ts";

/**
 * Parses the JSON that `flag` gave. Throws SyntaxError for a text that is none, and CliError for a number that would reach the server as
 * another one.
 */
export function parseExactJson(text: string, flag: string): unknown {
  const value: unknown = JSON.parse(text);
  const number = findInexactNumber(text);
  if (number === null) return value;
  throw usageError(`${flag}: the number ${number.slice(0, 60)} would be changed.`, { hint: "Write it as a text, in quotes." });
}
