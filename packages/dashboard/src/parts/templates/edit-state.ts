import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { type Draft, listChanges, toDraft } from "./draft.ts";
import type { LocalCopy } from "./local-copy.ts";

/** Draft being edited, and the stored version it is compared with. */
export interface EditState {
  readonly base: TemplateDetail;
  readonly draft: Draft;
  readonly theirs: TemplateDetail | null;
  readonly edition: number;
}

/** Shows what is stored in place of what was edited. */
export function follow({ edition }: EditState, stored: TemplateDetail): EditState {
  return { base: stored, draft: toDraft(stored), theirs: null, edition: edition + 1 };
}

/** Goes on with what was not saved the last time. */
export function begin(loaded: TemplateDetail, kept: LocalCopy): EditState {
  const unsaved = kept.readUnsaved();
  if (unsaved === null) return { base: loaded, draft: toDraft(loaded), theirs: null, edition: 0 };
  const draft = { ...toDraft(loaded), ...unsaved.draft };
  return { base: loaded, draft, theirs: unsaved.revision === loaded.revision ? null : loaded, edition: 0 };
}

/**
 * Merges a newly stored version into the editor: it is shown if there are no own changes; otherwise the person decides. Ignores a version
 * that is not newer than the base, such as an answer that arrives after a later save.
 */
export function meet(now: EditState, stored: TemplateDetail): EditState {
  if (stored.revision <= now.base.revision) return now;
  const isChanged = Object.keys(listChanges(now.draft, toDraft(now.base))).length > 0;
  return isChanged ? { ...now, theirs: stored } : follow(now, stored);
}

/** Returns the state after `stored` accepted what was sent. Changes made since then, and unsent ones, stay. */
export function settle(now: EditState, sent: Draft, stored: TemplateDetail): EditState {
  // Whoever comes back to the page by pressing Save may have met this saving already, as if it were that of somebody else.
  const theirs = now.theirs !== null && now.theirs.revision > stored.revision ? now.theirs : null;
  return { ...now, base: stored, draft: { ...toDraft(stored), ...listChanges(now.draft, sent) }, theirs };
}
