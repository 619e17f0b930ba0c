import type { Endpoint } from "@mailsvc/sdk/contract";
import type { ContractCalls } from "../http/contract-calls.ts";
import { ApiError } from "../lib/api-error.ts";

/** How operations call the contract. */
export type Calls = Pick<ContractCalls, "read" | "write" | "prepare" | "authorize">;

/** The names that a dialect has for fields of an endpoint. A field inside another one is written with it, without places in lists: `variables.name`. */
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
      return (within) => renaming(endpoint, () => prepared(within));
    },
    authorize: (endpoint, context) => calls.authorize(endpoint, context),
  };
}

function renameInError(error: ApiError, names: FieldNames): ApiError {
  const { code, message, details, hint, title, headers } = error;
  const renameText = (text: string): string => {
    const paths = details.reduce((said, { path }) => (path === "" ? said : said.replaceAll(path, () => renamePath(path, names))), text);
    // Names that are no words of English stand only for fields.
    return paths.replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) => (Object.hasOwn(names, name) ? (names[name] ?? name) : name));
  };
  const renamed = details.map((detail) => ({ ...detail, path: renamePath(detail.path, names), message: renameText(detail.message) }));
  return new ApiError(code, renameText(message), {
    ...{ details: renamed, hint: renameText(hint), headers, cause: error },
    ...(title !== null && { title }),
  });
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
