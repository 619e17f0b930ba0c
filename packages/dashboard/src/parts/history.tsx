/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { toHref } from "../router.tsx";
import { ChangeItem } from "./audit/change-item.tsx";
import { Loaded } from "./loaded.tsx";
import { useResource } from "./resource.ts";

const SHOWN = 20;

/** The latest changes of an object with the people or keys that made them; nothing for a role that may not read that. */
export function History({ id }: { readonly id: string }) {
  return may("audit:read") ? <Entries id={id} /> : null;
}

function Entries({ id }: { readonly id: string }) {
  const entries = useResource((signal) => api.audit.list({ object: id, limit: SHOWN }, { signal }), [id]);
  return (
    <section class="card">
      <h2>Who did what</h2>
      <Loaded from={entries}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? <p class="soft">No changes yet.</p> : null}
            <ul class="items">
              {data.map((entry) => (
                <ChangeItem key={entry.id} entry={entry} own />
              ))}
            </ul>
            {pagination.nextCursor === null ? null : <a href={toHref(`/audit?object=${id}`)}>All of its changes</a>}
          </>
        )}
      </Loaded>
    </section>
  );
}
