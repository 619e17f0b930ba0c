import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TemplateOrigin } from "@mailsvc/sdk/contract";
import { assertNoLinks, fileFault, readText } from "../folders/files.ts";
import type { Fault } from "../types.ts";

type Kind = TemplateOrigin["kind"];

interface Renderer {
  /** The file that is rendered, and names it goes by. */
  readonly entries: readonly string[];
  /** The files of a template's folder that belong to its source. */
  readonly files: RegExp;
  /** The name of what renders, for messages. */
  readonly label: string;
}

/** Sources a template's HTML can be rendered from. The renderers themselves are packages of the person's project. */
export const RENDERERS: Readonly<Record<Kind, Renderer>> = {
  mjml: { entries: ["template.mjml"], files: /\.(?:mjml|css)$/, label: "MJML" },
  "react-email": { entries: ["template.tsx", "template.jsx"], files: /\.(?:[jt]sx?|css|json)$/, label: "React Email" },
};

/** Files that the template itself is made of, whatever its HTML is rendered from. */
const OWN = /^template\.(?:json|html|txt|blocks\.json)$/;

/** The file of a source that is rendered. */
export function getEntry({ kind, files }: TemplateOrigin): string {
  return RENDERERS[kind].entries.find((name) => Object.hasOwn(files, name)) ?? (RENDERERS[kind].entries[0] as string);
}

/** The kind and entry of a file that HTML is rendered from; null for any other name. */
export function findKind(name: string): Kind | null {
  return (Object.keys(RENDERERS) as Kind[]).find((kind) => RENDERERS[kind].entries.includes(name)) ?? null;
}

/** Reads what a template's HTML is rendered from; null when it is written by hand. Two sources of the HTML are a fault. */
export function readOrigin(folder: string, slug: string, faults: Fault[]): TemplateOrigin | null {
  const named = Object.values(RENDERERS).flatMap(({ entries }) => entries);
  const present = [...named, "template.html"].filter((name) => existsSync(join(folder, name)));
  const kind = findKind(present[0] ?? "");
  if (kind === null) return null;
  if (present.length > 1) {
    faults.push(fileFault(`${slug}/${present[0]}`, `${present[1]} is there as well. Keep the one that the HTML comes from.`, "ambiguous"));
    return null;
  }
  const files = Object.fromEntries(
    listFiles(folder, RENDERERS[kind].files).flatMap((path): [string, string][] => {
      const text = readText(join(folder, path), `${slug}/${path}`, faults);
      return text === null ? [] : [[path, text]];
    }),
  );
  if (!present.every((name) => Object.hasOwn(files, name))) {
    faults.push(fileFault(`${slug}/${present[0]}`, "The file is empty."));
    return null;
  }
  return { kind, files };
}

function listFiles(folder: string, pattern: RegExp, under = ""): string[] {
  return readdirSync(join(folder, under), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith(".") && name !== "node_modules" && !(under === "" && OWN.test(name)))
    .flatMap((entry) => {
      const path = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) return listFiles(folder, pattern, path);
      if (!pattern.test(entry.name)) return [];
      assertNoLinks([join(folder, path)]);
      return [path];
    })
    .sort();
}
