// The paths of endpoints that arguments of others could lead to: those of packages/sdk/src/contract/taken-paths.ts.

/** @returns {string} the text of packages/sdk/src/contract/taken-paths.generated.ts */
export function takenPaths(served) {
  const endpoints = Object.entries(served).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => ({ name: `${noun}.${verb}`, ...endpoint })),
  );
  const rows = endpoints.flatMap(({ name, method, path }) => {
    const taken = endpoints.flatMap((other) =>
      other.method !== method || other.name === name
        ? []
        : [other.path, ...(other.aliases ?? [])].filter((one) => takes(path, one)).map((one) => [one, other.name]),
    );
    return taken.length === 0 ? [] : [`  ${JSON.stringify(`${method} ${path}`)}: ${literal(taken)},`];
  });
  return [
    "// Generated from the contract by `npm run generate`.",
    "",
    "/** By the method and path of an endpoint: the paths that it has if an argument is part of the path of another one, and that one. */",
    "export const TAKEN_PATHS: Readonly<Record<string, Readonly<Record<string, string>>>> = {",
    ...rows,
    "};",
    "",
  ].join("\n");
}

/** True if the parameters of a path can be filled with words of the other path so that both are equal. */
function takes(path, other) {
  const [own, its] = [path.split("/"), other.split("/")];
  const isParam = (segment) => segment.startsWith(":");
  return (
    own.length === its.length &&
    own.every((segment, i) => isParam(segment) || isParam(its[i]) || segment === its[i]) &&
    own.some((segment, i) => isParam(segment) && !isParam(its[i]))
  );
}

const literal = (taken) => `{ ${taken.map(([path, name]) => `${JSON.stringify(path)}: ${JSON.stringify(name)}`).join(", ")} }`;
