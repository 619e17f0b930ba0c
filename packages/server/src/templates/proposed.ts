import { toApiError } from "./compiled-set.ts";
import { compileSet, type FieldFault, TemplateFaults, type TemplateSet } from "./engine/engine.ts";
import type { Parse } from "./engine/parser.ts";
import { findUnplain } from "./engine/plain.ts";
import { readSource } from "./engine/read.ts";
import { type Role, SourceFaults } from "./engine/tree.ts";

type Sources = Readonly<Record<Role, string | null>>;

const ROLES: readonly Role[] = ["subject", "html", "text"];

/**
 * Checks sources that somebody outside of the workspace proposes: they compile without its layouts and partials. `plain` ones are the
 * same mail for every reader, but for fields of contacts. Throws ApiError validation_error with the place of each fault.
 */
export function checkProposed(parse: Parse, sources: Sources, plain: boolean): void {
  const set: TemplateSet = { slug: "", ...sources, variables: [], isLayout: false, layout: null, partials: new Map() };
  try {
    if (plain) assertPlain(parse, set);
    compileSet(parse, set);
  } catch (error) {
    throw toApiError("validation_error", error);
  }
}

function assertPlain(parse: Parse, set: TemplateSet): void {
  const faults = ROLES.flatMap((role): FieldFault[] => {
    const source = set[role];
    if (source === null) return [];
    try {
      return findUnplain(readSource(parse, source, { role })).map((fault) => ({ ...fault, part: null, field: role }));
    } catch (error) {
      if (error instanceof SourceFaults) return error.faults.map((fault) => ({ ...fault, part: null, field: role }));
      throw error;
    }
  });
  if (faults.length > 0) throw new TemplateFaults(faults);
}
