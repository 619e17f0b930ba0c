/** @jsxImportSource preact */
import type { ContactImportSummary } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { may } from "../../api/session.ts";
import { pause } from "../../browser.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { count } from "../../parts/plural.ts";
import { Time } from "../../parts/time.tsx";

const POLL_MS = 1000;

/** A button that undoes an import, and how far that is. */
export function UndoImport({ record: given }: { readonly record: ContactImportSummary }) {
  const [record, setRecord] = useState(given);
  const [error, setError] = useState<RequestError | null>(null);
  useEffect(() => {
    if (record.state !== "UNDOING") return undefined;
    const over = new AbortController();
    void pause(POLL_MS, over.signal)
      .then(() => (over.signal.aborted ? null : api.contacts.getImport(record.id)))
      .then(
        (now) => now && setRecord(now),
        (cause: unknown) => setError(asRequestError(cause)),
      );
    return () => over.abort();
  }, [record]);
  const undo = async (): Promise<void> => setRecord(await api.contacts.undoImport(record.id));
  return (
    <section class="card what">
      <p>
        <strong>{record.tag ?? record.name}</strong>{" "}
        <span class="soft">
          {record.file ?? "by the API"} · <Time at={record.createdAt} />
        </span>
      </p>
      {error === null ? null : <ErrorNote error={error} />}
      {record.state === "OPEN" && may("contacts:write") ? (
        <ConfirmButton label="Undo the import" question="Undo this import?" danger act={undo}>
          <p>
            Contacts that it created are deleted, and others get their former values back, except for what was changed since. Anyone who
            unsubscribed since then stays unsubscribed.
          </p>
        </ConfirmButton>
      ) : null}
      {record.state === "UNDOING" ? <p>{count(record.created + record.existing, "contact")} left to undo</p> : null}
      {record.state === "UNDONE" ? (
        <p>Undone{record.kept > 0 ? `; ${count(record.kept, "contact")} stayed, because they came in another way as well` : ""}.</p>
      ) : null}
    </section>
  );
}

/** The imports of the last week. */
export function RecentImports() {
  const [imports, setImports] = useState<readonly ContactImportSummary[]>([]);
  useEffect(() => {
    // Without the list a file can be imported all the same.
    void api.contacts.imports({ limit: 10 }).then(
      ({ data }) => setImports(data),
      () => {},
    );
  }, []);
  if (imports.length === 0) return null;
  return (
    <section>
      <h2>Imports of the last week</h2>
      {imports.map((one) => (
        <UndoImport key={one.id} record={one} />
      ))}
    </section>
  );
}
