import type { Reject } from "../../../../sdk/src/contact-files/reject-lines.ts";
import type { ImportPlan, ImportProgress } from "./importer.ts";

/** An import that is kept until it is done, so that it can go on after the page was closed. */
interface KeptImport {
  readonly file: File;
  readonly plan: ImportPlan;
  readonly progress: ImportProgress;
  readonly rejects: readonly Reject[];
}

const STORE = "imports";

/** Keeps the import of a workspace in this browser: its file, how it is read, how far it is, and the rows that failed. */
export class ImportStore {
  readonly #workspace: string;

  constructor(workspaceId: string) {
    this.#workspace = workspaceId;
  }

  /** The import that was begun and not finished; null without one. */
  async find(): Promise<KeptImport | null> {
    const [file, plan, progress, rejects] = await this.#use(
      "readonly",
      async (store) =>
        [
          await done<File | undefined>(store.get(this.#key("file"))),
          await done<ImportPlan | undefined>(store.get(this.#key("plan"))),
          await done<ImportProgress | undefined>(store.get(this.#key("progress"))),
          await done<Reject[][]>(store.getAll(this.#range("rejects"))),
        ] as const,
    );
    return file && plan && progress ? { file, plan, progress, rejects: (rejects ?? []).flat() } : null;
  }

  async begin({ file, plan, progress }: Omit<KeptImport, "rejects">): Promise<void> {
    await this.clear();
    await this.#use("readwrite", async (store) => {
      await done(store.put(file, this.#key("file")));
      await done(store.put(plan, this.#key("plan")));
      await done(store.put(progress, this.#key("progress")));
    });
  }

  /** Records a batch: how far the import is now, and the rows of the batch that failed, together. */
  async save(progress: ImportProgress, rejects: readonly Reject[]): Promise<void> {
    await this.#use("readwrite", async (store) => {
      await done(store.put(progress, this.#key("progress")));
      if (rejects.length > 0) await done(store.put(rejects, this.#key(`rejects/${String(progress.batches).padStart(9, "0")}`)));
    });
  }

  async clear(): Promise<void> {
    await this.#use("readwrite", (store) => done(store.delete(this.#range(""))));
  }

  #key(name: string): string {
    return `${this.#workspace}/${name}`;
  }

  #range(name: string): IDBKeyRange {
    return IDBKeyRange.bound(this.#key(name), this.#key(`${name}\uffff`));
  }

  async #use<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => Promise<T>): Promise<T> {
    const opening = indexedDB.open("mailsvc", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const db = await done(opening);
    try {
      return await act(db.transaction(STORE, mode).objectStore(STORE));
    } finally {
      db.close();
    }
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
