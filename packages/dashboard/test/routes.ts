import { readFileSync } from "node:fs";

// As text: the module itself needs a browser.
const text = readFileSync(new URL("../src/routes.ts", import.meta.url), "utf8");

const findPaths = (pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([, path = ""]) => path);

/** The paths of all pages of the dashboard, such as `/templates/:id`. */
export function listRoutes(): readonly string[] {
  return findPaths(/\{ path: "([^"]+)", load/g);
}

/** The paths in the navigation, to which those of its other pages belong. */
export function listEntries(): readonly string[] {
  return [...findPaths(/name: "[^"]+",\s+path: "([^"]+)"/g), ...findPaths(/also: "([^"]+)"/g)];
}
