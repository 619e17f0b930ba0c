import type { Endpoint } from "@mailsvc/sdk/contract";
import type { ContractCalls } from "../http/contract-calls.ts";
import { ApiError } from "../lib/api-error.ts";

/** Functions by which operations call the contract. */
export type Calls = Pick<ContractCalls, "read" | "write" | "prepare" | "authorize">;

/** The names that a dialect has for fields of an endpoint. Nested fields have dots, and no positions in lists: `variables.name`. */
export type FieldNames = Readonly<Record<string, string>>;

/** Calls of the contract whose errors name the fields as the dialect does, because its programs never wrote the others. */
export function renameFields(calls: Calls, table: ReadonlyMap<Endpoint, FieldNames>): Calls {
  const renaming = async <T>(endpoint: Endpoint, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const names = table.get(endpoint);
      throw names && error instanceof ApiError ? renameInError(error, names) : error;
    }
  };
  return {
    read: (endpoint, input, context) => renaming(endpoint, () => calls.read(endpoint, input, context)),
    write: (endpoint, input, context) => renaming(endpoint, () => calls.write(endpoint, input, context)),
    prepare: async (endpoint, input, context) => {
      const prepared = await renaming(endpoint, () => calls.prepare(endpoint, input, context));
      return (within, also) => renaming(endpoint, () => prepared(within, also));
    },
    authorize: (endpoint, context) => calls.authorize(endpoint, context),
  };
}

function renameInError(error: ApiError, names: FieldNames): ApiError {
  const { code, message, details, hint, page, headers } = error;
  const paths = details.map(({ path }) => path).filter((path) => path !== "");
  const renameText = (text: string): string => {
    // The longest first: `to[10]` begins with `to[1`.
    const first = paths
      .toSorted((a, b) => b.length - a.length)
      .find((path) => text.startsWith(path) && !/^[\w[]/.test(text.slice(path.length)));
    const rest = text.slice(first?.length ?? 0);
    return (first === undefined ? "" : renamePath(first, names)) + renameOutsideQuotes(rest, paths, names);
  };
  const renamed = details.map((detail) => ({ ...detail, path: renamePath(detail.path, names), message: renameText(detail.message) }));
  return new ApiError(code, renameText(message), {
    ...{ details: renamed, hint: renameText(hint), headers, cause: error },
    ...(page !== null && { page }),
  });
}

/**
 * Renames the fields that a sentence names after its beginning. Only what cannot be a word of English stands for a field there, and what is
 * quoted was written by the caller.
 */
function renameOutsideQuotes(text: string, paths: readonly string[], names: FieldNames): string {
  const renameIn = (piece: string): string => {
    const renamed = paths
      .filter((path) => /[.[]/.test(path))
      .reduce((said, path) => said.replaceAll(path, () => renamePath(path, names)), piece);
    return renamed.replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) => (Object.hasOwn(names, name) ? (names[name] ?? name) : name));
  };
  return text
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((piece, i) => (i % 2 === 1 ? piece : renameIn(piece)))
    .join("");
}

function renamePath(path: string, names: FieldNames): string {
  const fields: string[] = [];
  return path.replace(/[^.[\]]+/g, (part) => {
    if (/^\d+$/.test(part)) return part;
    const at = [...fields, part].join(".");
    fields.push(part);
    return Object.hasOwn(names, at) ? (names[at] ?? part) : part;
  });
}
