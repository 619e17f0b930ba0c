/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ChangeItem } from "../parts/audit/change-item.tsx";
import { AUDITED_NOUNS } from "../parts/audit/words.ts";
import { withDays } from "../parts/filters.tsx";
import { ListPage } from "../parts/list-page.tsx";

const NOUNS = Object.entries(AUDITED_NOUNS).map(([value, { all }]) => ({ value, text: all }));

const listChanges = withDays(api.audit.list);

/** Changes of settings and content: who made them, when, and what was there before and after. */
export default function Audit() {
  return (
    <ListPage
      title="Audit log"
      about="Who changed what in this workspace. Contacts, suppressions and mail have their history under Events."
      filters={[
        { name: "actor", label: "By", ...(may("keys:read") ? { options: listActors } : { example: "By: the name of a person" }) },
        { name: "action", label: "Of", options: NOUNS },
        { name: "since", label: "From", day: true },
        { name: "until", label: "To", day: true },
        { name: "object", label: "Object", example: "Id: tpl_…", pattern: /^\w+$/, rare: true },
      ]}
      load={listChanges}
      entries={(items) => (
        <ul class="items card">
          {items.map((entry) => (
            <ChangeItem key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      more="Show older changes"
      empty="No changes yet"
      start={<p>Every change to a template, campaign, key or setting is listed here, with the person or program that made it.</p>}
      none="No change fits these filters"
    />
  );
}

/** The people and keys that may have changed something. */
async function listActors(signal: AbortSignal): Promise<{ value: string; text: string }[]> {
  const [members, keys] = await Promise.all([api.members.list({ limit: 100 }, { signal }), api.keys.list({ limit: 100 }, { signal })]);
  return [
    ...members.data.map(({ id, name, email }) => ({ value: id, text: name ?? email })),
    ...keys.data.map(({ id, name }) => ({ value: id, text: `Key ${name}` })),
  ];
}
