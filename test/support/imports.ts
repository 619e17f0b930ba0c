import { posix } from "node:path";

/** An import of a file: a path of the repository, or a package. */
export type Import = { to: string; typeOnly: boolean; lazy: boolean };
const IMPORT = /^[ \t]*(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|(typeof\s+)?\bimport\(\s*"([^"]+)"\s*\)(\s*\.[A-Z])?/gm;

export const importsOf = (path: string, source: string): Import[] =>
  [...source.matchAll(IMPORT)].map(([, type, fixed, typeOf, lazy, typeName]) => {
    const to = (fixed ?? lazy) as string;
    return {
      to: to.startsWith(".") ? posix.join(posix.dirname(path), to) : to,
      typeOnly: Boolean(type ?? typeOf ?? typeName),
      lazy: lazy !== undefined,
    };
  });
