import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError, isOutdated, type RequestError } from "../../api/request-error.ts";
import { useLeaveWarning } from "../leave-warning.ts";
import { useReturn } from "../return.ts";
import { type Draft, listChanges, toDraft } from "./draft.ts";
import { begin, follow, meet, settle } from "./edit-state.ts";
import { LocalCopy } from "./local-copy.ts";

/** A template while it is edited. */
export interface Editing {
  /** Version that was stored when the changes began. */
  readonly base: TemplateDetail;
  readonly draft: Draft;
  /** Rises when the draft is replaced by another one, instead of changed by the person. */
  readonly edition: number;
  readonly isChanged: boolean;
  /** Version somebody else stored in the meantime; null without one. */
  readonly theirs: TemplateDetail | null;
  /** Error of the last refused save or publication. */
  readonly refused: RequestError | null;
  readonly samples: Record<string, unknown>;
  change(fields: Partial<Draft>): void;
  setSamples(samples: Record<string, unknown>): void;
  /** Saves the changes, and publishes them if asked. False when they were refused. */
  save(options?: { readonly publish?: boolean }): Promise<boolean>;
  /** Gives up the changes. */
  discard(): void;
  /** Keeps the own changes, which the next saving puts over those of somebody else. */
  keepMine(): void;
  takeTheirs(): void;
  /** Takes the template as the server has it after a change outside of the draft. Unsaved changes stay. */
  replace(stored: TemplateDetail): void;
}

/**
 * Edits a template. Changes that were not saved stay in this browser; the page asks before it is closed with some. A saving names the
 * revision that was edited, so it never overwrites what somebody else has stored: the person decides.
 */
export function useEditing(loaded: TemplateDetail): Editing {
  const { id } = loaded;
  const kept = useMemo(() => new LocalCopy(id), [id]);
  const [state, setState] = useState(() => begin(loaded, kept));
  const [samples, setSamples] = useState(() => kept.readSamples());
  const [refused, setRefused] = useState<RequestError | null>(null);
  const { base, draft, theirs, edition } = state;
  const isChanged = Object.keys(listChanges(draft, toDraft(base))).length > 0;
  // Before it is shown: an effect after the paint would miss the last letters when the page is reloaded at once.
  useLayoutEffect(() => kept.keepUnsaved(isChanged ? { revision: base.revision, draft } : null), [kept, isChanged, draft, base]);
  useLeaveWarning(isChanged);
  useReturn(async () => {
    const stored = await api.templates.get(id);
    setState((now) => meet(now, stored));
  });
  const save = async ({ publish = false } = {}): Promise<boolean> => {
    setRefused(null);
    // Resolve the conflict first.
    if (theirs !== null) return false;
    try {
      const changes = listChanges(draft, toDraft(base));
      const stored = await api.templates.update(id, { ...changes, revision: base.revision, ...(publish && { publish }) });
      setState((now) => settle(now, draft, stored));
      return true;
    } catch (cause) {
      if (isOutdated(cause)) {
        const stored = await api.templates.get(id);
        setState((now) => ({ ...now, theirs: stored }));
      } else setRefused(asRequestError(cause));
      return false;
    }
  };
  return {
    base,
    draft,
    edition,
    isChanged,
    theirs,
    refused,
    samples,
    change: (fields) => setState((now) => ({ ...now, draft: { ...now.draft, ...fields } })),
    setSamples: (next) => {
      setSamples(next);
      kept.keepSamples(next);
    },
    save,
    discard: () => {
      setRefused(null);
      setState((now) => follow(now, now.theirs ?? now.base));
    },
    keepMine: () => setState((now) => ({ ...now, base: now.theirs ?? now.base, theirs: null })),
    takeTheirs: () => setState((now) => follow(now, now.theirs ?? now.base)),
    replace: (stored) => setState((now) => settle(now, toDraft(now.base), stored)),
  };
}
