import type { BuiltFiles } from "./files.ts";

/** Builds the dashboard from its sources. The bundles and the single binary contain its files: their build replaces this module. */
export async function loadBuiltFiles(): Promise<BuiltFiles> {
  // By its address, so that the declarations of the server do not lead to another package.
  const builder = new URL("../../../dashboard/build.mjs", import.meta.url).href;
  const { buildOnce }: { buildOnce: () => Promise<BuiltFiles> } = await import(builder);
  return buildOnce();
}
