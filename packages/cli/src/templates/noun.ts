import type { FolderNoun } from "../folders/folder.ts";
import { usageError } from "../runtime/errors.ts";
import { COMPARED_FIELDS, sortByDependency } from "./changes.ts";
import { isSlug, readFolder, removeTemplate, type TemplateFiles, writeTemplate } from "./folder.ts";
import { applyChange } from "./push.ts";
import { readStoredTemplates } from "./stored.ts";

/** Templates as files: one folder for each, named by its slug. */
export const templateNoun: FolderNoun<TemplateFiles> = {
  noun: "templates",
  label: "Template",
  identity: "slug",
  words: {
    release: { flag: "publish", about: "Publish the pushed templates", verb: "publish", done: "published" },
    remove: { about: "Delete templates from the server that are not in the folder", verb: "delete", done: "deleted" },
  },
  shape: "A template is a folder with a template.json.",
  pushHelp: "  mailsvc templates push --dry-run\n  mailsvc templates push --publish\n  mailsvc templates push --publish --prune --yes",
  parseKey: (argument) => {
    const slug = argument.replace(/\/+$/, "").split("/").at(-1) ?? "";
    if (!isSlug(slug)) throw usageError(`"${slug}" is not a slug.`);
    return slug;
  },
  open: (session) => ({
    readFolder: async (dir, faulty) => readFolder(dir, session.host.env, faulty),
    write: writeTemplate,
    remove: removeTemplate,
    readStored: (only) => readStoredTemplates(session, only),
    fields: COMPARED_FIELDS,
    sort: sortByDependency,
    describeRemoval: (removed) => ({ target: `deletes ${removed.map(({ files }) => files.slug).join(", ")}` }),
    apply: (change, publish) => applyChange(session, change, publish),
  }),
};
