import { registerHooks } from "node:module";
import type { Mutation } from "./mutations/mutation.ts";
import { MUTATIONS } from "./mutations.ts";

/** The folder whose files mutations name. */
const SOURCES = new URL("../../packages/server/src/", import.meta.url);

/** A mutation by its name. Throws if there is none. */
export function getMutation(name: string): Mutation {
  const found = MUTATIONS.find((one) => one.name === name);
  if (found) return found;
  throw new Error(`There is no mutation ${name}. There are: ${MUTATIONS.map((one) => one.name).join(", ")}.`);
}

/** A source with a mutation in it. Throws unless it has the text of the mutation once. */
export function mutate(source: string, { name, file, text, instead }: Mutation): string {
  const parts = source.split(text);
  if (parts.length !== 2) throw new Error(`${file} has the text of the mutation ${name} ${parts.length - 1} times instead of once.`);
  return parts.join(instead);
}

/** The address of the file that a mutation changes. */
export function fileOf({ file }: Mutation): URL {
  return new URL(file, SOURCES);
}

/** Plants a mutation: from now on this process loads the changed file. Call it before anything imports the server. */
export function plant(mutation: Mutation): void {
  const { href } = fileOf(mutation);
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      return url === href ? { ...loaded, source: mutate(String(loaded.source), mutation) } : loaded;
    },
  });
}
