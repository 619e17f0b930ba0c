import { inject } from "vitest";
import { useRegistry } from "./npm-user.ts";
import type { Publication } from "./publication-setup.ts";

/** Lets npm in `folder` use the registry that has the packages as they are published. Returns their files by their names. */
export async function usePublishedPackages(folder: string): Promise<Publication["tarballs"]> {
  const response = await fetch(inject("publisherUrl"));
  if (!response.ok) throw new Error(await response.text());
  const { registry, tarballs } = (await response.json()) as Publication;
  useRegistry(folder, registry);
  return tarballs;
}
