import type { AutomationStatus } from "@mailsvc/sdk/contract";
import type { FolderNoun, Stored } from "../folders/folder.ts";
import { type AutomationFile, FIELDS, readFolder, removeFile, writeFile } from "./file.ts";
import { applyChange } from "./push.ts";
import { References } from "./references.ts";
import { readStoredAutomations } from "./stored.ts";

/** An automation on the server. */
export interface StoredAutomation extends Stored<AutomationFile> {
  readonly status: AutomationStatus;
}

/** Automations as files: one for each, identified by the name in it. */
export const automationNoun: FolderNoun<AutomationFile, StoredAutomation> = {
  noun: "automations",
  label: "Automation",
  identity: "name",
  words: {
    release: { flag: "activate", about: "Activate the pushed drafts", verb: "activate", done: "activated" },
    remove: { about: "Pause and archive automations on the server that are not in the folder", verb: "archive", done: "archived" },
  },
  shape: "An automation is a .json file with a name, a trigger, steps and connections.",
  pushHelp:
    '  mailsvc automations push --dry-run\n  mailsvc automations push --activate\n  mailsvc automations push "Welcome series"\n\nChanges of an active automation take effect at once: contacts that enter take the new version.',
  parseKey: (argument) => argument,
  open: (session) => {
    const references = new References(session);
    return {
      readFolder,
      write: writeFile,
      remove: removeFile,
      readStored: (only) => readStoredAutomations(session, references, only),
      fields: FIELDS,
      sort: (all) => [...all.keys()],
      describeRemoval: (removed) => {
        const active = removed.filter(({ status }) => status === "ACTIVE").map(({ files }) => files.name);
        return {
          target: `archives ${removed.map(({ files }) => files.name).join(", ")}`,
          effect: active.length > 0 ? `stops ${active.join(", ")}` : "takes them out of the list",
        };
      },
      apply: (change, activate) => applyChange(session, references, change, activate),
    };
  },
};
