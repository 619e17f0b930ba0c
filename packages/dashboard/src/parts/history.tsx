/** @jsxImportSource preact */
import type { AuditEntry } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { Empty, Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import { useResource } from "./resource.ts";
import { Time } from "./time.tsx";

// The latest; the command line lists all.
const SHOWN = 20;

const WORDS: Readonly<Record<string, string>> = {
  create: "created it",
  update: "changed",
  duplicate: "made it as a copy",
  publish: "published it",
  unpublish: "took it back",
  archive: "archived it",
  unarchive: "took it out of the archive",
  schedule: "scheduled it",
  send: "sent it",
  pause: "paused it",
  resume: "resumed it",
  cancel: "cancelled it",
  winner: "chose the winner",
  resend: "sent it again",
  activate: "activated it",
};

/** The latest changes of an object with the people or keys that made them; nothing for a role that may not read that. */
export function History({ id }: { readonly id: string }) {
  return may("audit:read") ? <Entries id={id} /> : null;
}

function Entries({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource(
    async (signal) => (await api.audit.list({ object: id, limit: SHOWN }, { signal })).data,
    [id],
  );
  if (error !== null) return <ErrorNote error={error} retry={reload} />;
  if (data === null) return <Loading />;
  if (data.length === 0) return <Empty title="No changes are recorded" />;
  return (
    <section class="card">
      <h2>Who did what</h2>
      <ul class="items">
        {data.map((entry) => (
          <li key={entry.id}>
            <div class="what">
              <span>
                <strong>{nameOf(entry)}</strong> {describe(entry)}
              </span>
              <Time at={entry.at} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ actor: { kind, name } }: AuditEntry): string {
  if (kind === "operator") return "The operator";
  return kind === "key" ? `Key ${name ?? "(unnamed)"}` : (name ?? "An agent");
}

function describe({ action, changes }: AuditEntry): string {
  const verb = action.slice(action.indexOf(".") + 1);
  const word = WORDS[verb] ?? verb;
  return verb === "update" ? `${word} ${changes.map(({ field }) => field).join(", ")}` : word;
}
