import { paramNames } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { fromUuid, toUuid, withUuids } from "../../lib/uuids.ts";
import type { IdForms } from "../operation.ts";

/** The prefix of our ids below a folder of paths, such as those of contacts in `/contacts/:id` and in `/contacts?after=`. */
const PREFIXES = {
  emails: "em",
  receiving: "rcv",
  domains: "snd",
  "api-keys": "key",
  audiences: "list",
  segments: "list",
  topics: "list",
  contacts: "con",
  imports: "imp",
  events: "evd",
  "contact-properties": "prop",
  templates: "tpl",
  broadcasts: "cmp",
  webhooks: "whk",
  suppressions: "sup",
  logs: "req",
  automations: "aut",
  runs: "ent",
} as const;
type Folder = keyof typeof PREFIXES;

// In a sentence, an id of ours is a word by itself.
const ID_IN_TEXT = /\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** An id in a body or a query: a UUID, as answers have it, or our own, as the dashboard shows it. */
export function idOf(folder: Folder) {
  return z.string().transform((text) => fromUuid(PREFIXES[folder], text));
}

/** Resend's ids are UUIDs. Parameters and cursors are those of the folder before them, and answers have UUIDs in each field for ids. */
export const UUIDS: IdForms = {
  read: (path, input) => {
    const folders = path.split("/");
    const read = { ...input };
    const convert = (name: string, folder: string | undefined): void => {
      const value = input[name];
      if (typeof value === "string" && folder !== undefined && isFolder(folder)) read[name] = fromUuid(PREFIXES[folder], value);
    };
    for (const name of paramNames(path)) convert(name, folders[folders.indexOf(`:${name}`) - 1]);
    const listed = folders.findLast((part) => !part.startsWith(":"));
    for (const name of ["after", "before"]) convert(name, listed);
    return read;
  },
  show: withUuids,
};

/** A text with the ids in it as UUIDs, as the caller knows them. */
export function spellIds(text: string): string {
  return text.replace(ID_IN_TEXT, toUuid);
}

function isFolder(name: string): name is Folder {
  return Object.hasOwn(PREFIXES, name);
}
