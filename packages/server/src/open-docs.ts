import type { DocsLibrary } from "./mcp/docs-library.ts";

/** Opens the documentation of this version, to be read by page or searched. */
export async function openDocs(): Promise<DocsLibrary> {
  const [{ DocsLibrary: Library }, { readDocFiles }] = await Promise.all([import("./mcp/docs-library.ts"), import("./mcp/doc-files.ts")]);
  return new Library(readDocFiles);
}
