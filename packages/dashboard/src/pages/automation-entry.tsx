/** @jsxImportSource preact */

import type { AutomationEntry } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { LOCALE } from "../browser.ts";
import { Flow } from "../parts/automations/flow.tsx";
import { useNames } from "../parts/automations/names.ts";
import { EntryTimeline, toPath } from "../parts/automations/path.tsx";
import { nameEntryStatus } from "../parts/automations/words.ts";
import { Empty } from "../parts/empty.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useRegularly, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { type PageProps, query, setQuery, toHref } from "../router.tsx";

/** One contact's way through an automation: the path in the graph, each step with its time and reason, and why they left. */
export default function AutomationEntryPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const contact = params["contact"] ?? "";
  const entries = useResource(
    async (signal) => (await api.automations.entries(id, { contact, limit: 100 }, { signal })).data,
    [id, contact],
  );
  const automation = useResource((signal) => api.automations.get(id, {}, { signal }), [id]);
  useEvents(({ automationId, contactId }) => automationId === id && contactId === contact, entries.reload);
  const wanted = query.value.get("entry");
  const entry = entries.data?.find((one) => one.id === wanted) ?? entries.data?.[0] ?? null;
  useRegularly(() => entry?.status === "ACTIVE" && entries.reload());
  return (
    <Page
      title={automation.data === null ? "Automation" : `A contact in ${automation.data.name}`}
      back={{ href: toHref(`/automations/${id}?tab=entries`), name: automation.data?.name ?? "Automation" }}
      about={
        <>
          {entry === null ? null : (
            <Status status={entry.status === "EXITED" ? "plain" : entry.status} text={nameEntryStatus(entry.status)} />
          )}{" "}
          <ObjectLink id={contact} />
        </>
      }
    >
      <Loaded from={entries}>
        {(all) =>
          entry === null ? (
            <Empty title="This contact has never entered" />
          ) : (
            <div class="scroll-area stack">
              {all.length > 1 ? <EntryChoice entries={all} chosen={entry} /> : null}
              <EntryPath key={entry.id} id={id} entry={entry} />
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

function EntryChoice({ entries, chosen }: { readonly entries: readonly AutomationEntry[]; readonly chosen: AutomationEntry }) {
  const format = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
  return (
    <label>
      Entered {entries.length} times:{" "}
      <select value={chosen.id} onChange={({ currentTarget }) => setQuery({ entry: currentTarget.value })}>
        {entries.map(({ id, enteredAt, status }) => (
          <option key={id} value={id}>
            {format.format(Date.parse(enteredAt))}, {nameEntryStatus(status)}
          </option>
        ))}
      </select>
    </label>
  );
}

function EntryPath({ id, entry }: { readonly id: string; readonly entry: AutomationEntry }) {
  const [chosen, choose] = useState(entry.stepId ?? entry.path.at(-1)?.stepId ?? "trigger");
  const names = useNames();
  const automation = useResource((signal) => api.automations.get(id, { version: entry.version }, { signal }), [id, entry.version]);
  const { revenue, goalRevenue, version, enteredAt, endedAt } = entry;
  return (
    <Loaded from={automation}>
      {(shown) => (
        <div class="flow-columns">
          <Flow definition={shown} trigger={shown.trigger} names={names} path={toPath(entry)} chosen={chosen} choose={choose} />
          <aside class="column" aria-label="The path">
            <section class="card">
              <h2>The path</h2>
              <EntryTimeline entry={entry} steps={shown.steps} names={names} />
            </section>
            <section class="card">
              <h2>Details</h2>
              <Facts
                facts={[
                  ["Version", version === shown.version ? version : `${version} of ${shown.version}`],
                  ["Entered", <Time key="in" at={enteredAt} exactly />],
                  ["Ended", endedAt && <Time key="out" at={endedAt} exactly />],
                  [
                    "Revenue",
                    revenue === 0 ? null : `${revenue} ${shown.currency}${goalRevenue === 0 ? "" : `, ${goalRevenue} by the goal`}`,
                  ],
                  ["Contact", <ObjectLink key="contact" id={entry.contactId} />],
                  ["Automation", <ObjectLink key="automation" id={id} />],
                  ["Entry", <code key="id">{entry.id}</code>],
                ]}
              />
            </section>
          </aside>
        </div>
      )}
    </Loaded>
  );
}
