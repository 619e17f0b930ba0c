/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ChangeItem } from "../parts/audit/change-item.tsx";
import { AUDITED_NOUNS } from "../parts/audit/words.ts";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { Page } from "../parts/page.tsx";
import { useList } from "../parts/resource.ts";

const DAY_MS = 86_400_000;
const NOUNS = Object.entries(AUDITED_NOUNS).map(([value, { all }]) => ({ value, text: all }));

/** Changes of settings and content: who made them, when, and what was there before and after. */
export default function Audit() {
  const { actor, action, object, since, until } = readFilters(["actor", "action", "object", "since", "until"]);
  const list = useList(
    (cursor, signal) =>
      api.audit.list(
        {
          limit: 50,
          ...(actor && { actor }),
          ...(action && { action }),
          ...(object && { object }),
          ...(since && { since: new Date(`${since}T00:00`).toISOString() }),
          // The day itself is looked at, too.
          ...(until && { until: new Date(Date.parse(`${until}T00:00`) + DAY_MS).toISOString() }),
          ...(cursor && { cursor }),
        },
        { signal },
      ),
    [actor, action, object, since, until],
  );
  const filtered = [actor, action, object, since, until].some(Boolean);
  return (
    <Page title="Audit log" about="Who changed what in this workspace. Contacts, suppressions and mail have their history under Events.">
      <Filters
        fields={[
          { name: "actor", label: "By", ...(may("keys:read") ? { options: listActors } : { example: "By: the name of a person" }) },
          { name: "action", label: "Of", options: NOUNS },
          { name: "since", label: "From", day: true },
          { name: "until", label: "To", day: true },
          { name: "object", label: "Object", example: "Id: tpl_…", pattern: /^\w+$/, rare: true },
        ]}
      />
      <div class="scroll">
        <ListStates
          list={list}
          more="Show older changes"
          empty={
            filtered ? (
              <Empty title="No change fits these filters" />
            ) : (
              <Empty title="Nothing was changed yet">
                <p>Each change of a template, campaign, key or setting stands here with the person or program that made it.</p>
              </Empty>
            )
          }
        >
          <ul class="items card">
            {list.items.map((entry) => (
              <ChangeItem key={entry.id} entry={entry} />
            ))}
          </ul>
        </ListStates>
      </div>
    </Page>
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
