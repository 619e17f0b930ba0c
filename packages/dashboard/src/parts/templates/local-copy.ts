import type { Draft } from "./draft.ts";

/** Changes that were not saved, and the revision they were made to. */
interface Unsaved {
  readonly revision: number;
  readonly draft: Draft;
}

/** Browser's copy of a template: unsaved changes, and the preview's sample values. */
export class LocalCopy {
  readonly #unsaved: string;
  readonly #samples: string;

  constructor(id: string) {
    this.#unsaved = `mailsvc.unsaved.${id}`;
    this.#samples = `mailsvc.samples.${id}`;
  }

  readUnsaved(): Unsaved | null {
    const found = read(this.#unsaved) as Partial<Unsaved> | null;
    return typeof found?.revision === "number" && typeof found.draft === "object" ? (found as Unsaved) : null;
  }

  /** Null when all is saved. */
  keepUnsaved(unsaved: Unsaved | null): void {
    write(this.#unsaved, unsaved);
  }

  readSamples(): Record<string, unknown> {
    return (read(this.#samples) as Record<string, unknown> | null) ?? {};
  }

  keepSamples(samples: Record<string, unknown>): void {
    write(this.#samples, Object.keys(samples).length === 0 ? null : samples);
  }

  /** The template is gone. */
  forget(): void {
    write(this.#unsaved, null);
    write(this.#samples, null);
  }
}

function read(name: string): object | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? "null");
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function write(name: string, value: object | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The browser has no room for it. The page asks before it is left with changes in any case.
  }
}
