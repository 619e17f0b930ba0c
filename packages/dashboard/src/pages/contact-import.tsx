/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { asRequestError } from "../api/request-error.ts";
import { may, session } from "../api/session.ts";
import { chance, now } from "../browser.ts";
import { Empty, Loading } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { toast } from "../parts/toast.tsx";
import { toHref } from "../router.tsx";
import { ChooseFile } from "./contact-import/file-choice.tsx";
import { ImportStore } from "./contact-import/import-store.ts";
import { Importer } from "./contact-import/importer.ts";
import { type Decision, Prepare } from "./contact-import/preparation.tsx";
import { Running } from "./contact-import/running.tsx";
import { RecentImports } from "./contact-import/undo.tsx";

/** The import of each workspace in this tab: it goes on while other pages are looked at. */
const current = signal<ReadonlyMap<string, Importer>>(new Map());

function setCurrent(workspaceId: string, importer: Importer | null): void {
  const next = new Map(current.peek());
  if (importer === null) next.delete(workspaceId);
  else next.set(workspaceId, importer);
  current.value = next;
}

/** Contacts from a file: choose it, look at its columns, and follow the import. */
export default function ContactImport() {
  const workspaceId = session.value?.workspace.id ?? "";
  return (
    <Page title="Import contacts" back={{ href: toHref("/contacts"), name: "Contacts" }}>
      {may("contacts:write") ? (
        <Import key={workspaceId} workspaceId={workspaceId} />
      ) : (
        <Empty title="Your role may not import contacts">
          <p>Ask an owner or a marketer of this workspace.</p>
        </Empty>
      )}
    </Page>
  );
}

function Import({ workspaceId }: { readonly workspaceId: string }) {
  const [store] = useState(() => new ImportStore(workspaceId));
  const [file, setFile] = useState<File | null>(null);
  const [decided, setDecided] = useState<Decision | null>(null);
  const [looked, setLooked] = useState(false);
  const importer = current.value.get(workspaceId) ?? null;
  useEffect(() => {
    const take = async (): Promise<void> => {
      const kept = current.peek().has(workspaceId) ? null : await store.find();
      if (kept) setCurrent(workspaceId, new Importer(kept.file, kept.plan, store, kept.progress, kept.rejects));
    };
    // A browser that keeps nothing, as in private windows of some, has nothing to go on with.
    take().then(
      () => setLooked(true),
      () => setLooked(true),
    );
  }, []);
  const begin = async (chosen: File, decision: Decision): Promise<void> => {
    const plan = { ...decision, id: `${now().toString(36)}${chance().toString(36).slice(2, 10)}` };
    const kept = plan.dryRun ? null : await keep(store, chosen, plan);
    const next = new Importer(chosen, plan, kept);
    setDecided(decision);
    setCurrent(workspaceId, next);
    void next.run();
  };
  if (!looked) return <Loading />;
  if (importer !== null)
    return (
      <Running
        importer={importer}
        proceed={() => void begin(importer.file, { ...importer.plan, dryRun: false })}
        close={() => {
          setFile(importer.plan.dryRun ? importer.file : null);
          setCurrent(workspaceId, null);
          void store.clear().catch(() => {});
        }}
      />
    );
  if (file === null)
    return (
      <div class="scroll">
        <ChooseFile
          take={(chosen) => {
            setDecided(null);
            setFile(chosen);
          }}
        />
        <RecentImports />
      </div>
    );
  return <Prepare file={file} before={decided} begin={(decision) => void begin(file, decision)} other={() => setFile(null)} />;
}

/** Keeps the file in this browser; null, with a word about it, where that does not work. */
async function keep(store: ImportStore, file: File, plan: Importer["plan"]): Promise<ImportStore | null> {
  try {
    await store.begin({ file, plan, progress: new Importer(file, plan, null).progress.peek() });
    return store;
  } catch (cause) {
    toast(`This browser cannot keep the file (${asRequestError(cause).message}): leave the page open until the import is done.`, {
      bad: true,
    });
    return null;
  }
}
