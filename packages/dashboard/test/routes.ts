import { readFileSync } from "node:fs";

/** The paths of all pages of the dashboard, such as `/templates/:id`. */
export function listRoutes(): readonly string[] {
  // As text: the module itself needs a browser.
  const text = readFileSync(new URL("../src/routes.ts", import.meta.url), "utf8");
  return [...text.matchAll(/\{ path: "([^"]+)", load/g)].map(([, path = ""]) => path);
}
