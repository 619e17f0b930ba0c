import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { type Draft, listChanges, toDraft } from "./draft.ts";
import { Kept } from "./kept.ts";

/** A template while it is edited. */
export interface Editing {
  /** As it was stored when the changes began. */
  readonly base: TemplateDetail;
  readonly draft: Draft;
  /** Rises when the draft is replaced by another one, instead of changed by the person. */
  readonly edition: number;
  readonly isChanged: boolean;
  /** What somebody else has stored meanwhile; null when nobody has. */
  readonly theirs: TemplateDetail | null;
  /** Why the last saving or publication was refused. */
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
  /** The template as the server has it after something that is no change of the draft. */
  replace(stored: TemplateDetail): void;
}

/**
 * Edits a template. Changes that were not saved stay in this browser; the page asks before it is closed with some. A saving names the
 * revision that was edited, so it never overwrites what somebody else has stored: the person decides.
 */
export function useEditing(loaded: TemplateDetail): Editing {
  const { id } = loaded;
  const kept = useMemo(() => new Kept(id), [id]);
  const [state, setState] = useState(() => begin(loaded, kept));
  const [samples, setSamples] = useState(() => kept.readSamples());
  const [refused, setRefused] = useState<RequestError | null>(null);
  const { base, draft, theirs, edition } = state;
  const isChanged = Object.keys(listChanges(draft, toDraft(base))).length > 0;
  const replace = (stored: TemplateDetail): void => setState((now) => follow(now, stored));
  useEffect(() => kept.keepUnsaved(isChanged ? { revision: base.revision, draft } : null), [kept, isChanged, draft, base]);
  useWarning(isChanged);
  useReturn(async () => {
    const stored = await api.templates.get(id);
    setState((now) => meet(now, stored));
  });
  const save = async ({ publish = false } = {}): Promise<boolean> => {
    setRefused(null);
    // Whose changes count is to be decided first.
    if (theirs !== null) return false;
    try {
      const changes = listChanges(draft, toDraft(base));
      const stored = await api.templates.update(id, { ...changes, revision: base.revision, ...(publish && { publish }) });
      // What was typed meanwhile stays.
      setState((now) => ({ ...now, base: stored, draft: { ...toDraft(stored), ...listChanges(now.draft, draft) } }));
      return true;
    } catch (cause) {
      const error = asRequestError(cause);
      if (error.details.some(({ code }) => code === "outdated")) {
        const stored = await api.templates.get(id);
        setState((now) => ({ ...now, theirs: stored }));
      } else setRefused(error);
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
      replace(theirs ?? base);
    },
    keepMine: () => setState((now) => ({ ...now, base: now.theirs ?? now.base, theirs: null })),
    takeTheirs: () => replace(theirs ?? base),
    replace,
  };
}

interface State {
  readonly base: TemplateDetail;
  readonly draft: Draft;
  readonly theirs: TemplateDetail | null;
  readonly edition: number;
}

/** Shows what is stored in place of what was edited. */
function follow({ edition }: State, stored: TemplateDetail): State {
  return { base: stored, draft: toDraft(stored), theirs: null, edition: edition + 1 };
}

/** Goes on with what was not saved the last time. */
function begin(loaded: TemplateDetail, kept: Kept): State {
  const unsaved = kept.readUnsaved();
  if (unsaved === null) return { base: loaded, draft: toDraft(loaded), theirs: null, edition: 0 };
  const draft = { ...toDraft(loaded), ...unsaved.draft };
  return { base: loaded, draft, theirs: unsaved.revision === loaded.revision ? null : loaded, edition: 0 };
}

/** What is edited meets what is stored: without own changes, that is shown; with some, the person decides. */
function meet(now: State, stored: TemplateDetail): State {
  if (stored.revision === now.base.revision) return now;
  const isChanged = Object.keys(listChanges(now.draft, toDraft(now.base))).length > 0;
  return isChanged ? { ...now, theirs: stored } : follow(now, stored);
}

/** Asks before the page is closed. */
function useWarning(on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [on]);
}

/** Calls a function when the person comes back to this page from another tab or program. What fails is tried the next time. */
function useReturn(look: () => Promise<void>): void {
  useEffect(() => {
    const back = (): void => {
      if (document.visibilityState === "visible") look().catch(() => {});
    };
    window.addEventListener("focus", back);
    return () => window.removeEventListener("focus", back);
  }, []);
}
