import type { BuiltFiles } from "./files.ts";

/** Builds the dashboard from its sources. The bundles and the single binary contain its files: their build replaces this module. */
export async function loadBuiltFiles(): Promise<BuiltFiles> {
  const { buildDashboard } = await import("../../../dashboard/build.mjs");
  return buildDashboard();
}
