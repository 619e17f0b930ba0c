/** @jsxImportSource preact */

import type { AutomationDetail, AutomationStats, AutomationVersion, DryRun as Run } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { LOCALE } from "../browser.ts";
import { AutomationActions } from "../parts/automations/actions.tsx";
import { DryRun } from "../parts/automations/dry-run.tsx";
import { AutomationEntries } from "../parts/automations/entries.tsx";
import { Flow } from "../parts/automations/flow.tsx";
import type { Path } from "../parts/automations/flow-list.tsx";
import { useNames } from "../parts/automations/names.ts";
import { AutomationSettings } from "../parts/automations/settings.tsx";
import { StepCard } from "../parts/automations/step-card.tsx";
import type { Names } from "../parts/automations/words.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { History } from "../parts/history.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { NUMBERS_MS, useEvents, useList, useRegularly, useResource } from "../parts/resource.ts";
import { formatShare } from "../parts/share.ts";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { type PageProps, query, setQuery, toHref } from "../router.tsx";

/** One automation: its steps as a graph with how many are where, who entered, its versions and settings. */
export default function AutomationPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const version = Number(query.value.get("version")) || null;
  const automation = useResource((signal) => api.automations.get(id, version === null ? {} : { version }, { signal }), [id, version]);
  const stats = useResource((signal) => api.automations.stats(id, { signal }), [id]);
  const names = useNames();
  const { data } = automation;
  const reload = (): void => {
    automation.reload();
    stats.reload();
  };
  useEvents(({ automationId }) => automationId === id, reload, NUMBERS_MS);
  // Neither steps such as waits nor a colleague who pauses it cause an event.
  useRegularly(reload);
  return (
    <Page
      title={data?.name ?? "Automation"}
      back={{ href: toHref("/automations"), name: "Automations" }}
      about={data === null ? null : <About automation={data} />}
      actions={
        data !== null && may("automations:write") ? (
          <AutomationActions automation={data} inside={stats.data?.inside ?? 0} done={reload} />
        ) : null
      }
    >
      <Loaded from={automation}>{(shown) => <Shown automation={shown} stats={stats.data} names={names} reload={reload} />}</Loaded>
    </Page>
  );
}

function About({ automation: { status, archivedAt, description } }: { readonly automation: AutomationDetail }) {
  return (
    <>
      <Status status={archivedAt === null ? status : "plain"} text={archivedAt === null ? status.toLowerCase() : "archived"} />{" "}
      {description}
    </>
  );
}

interface ShownProps {
  readonly automation: AutomationDetail;
  readonly stats: AutomationStats | null;
  readonly names: Names;
  readonly reload: () => void;
}

function Shown({ automation, stats, names, reload }: ShownProps) {
  const chosen = query.value.get("tab") ?? "steps";
  return (
    <Tabs
      label="The automation"
      tabs={[
        { name: "steps", label: "Steps" },
        { name: "entries", label: "Entries", ...(stats && { count: stats.entered }) },
        { name: "dry-run", label: "Dry run" },
        { name: "versions", label: "Versions", count: automation.version },
        ...(may("audit:read") ? [{ name: "history", label: "History" }] : []),
        { name: "settings", label: "Settings" },
      ]}
      chosen={chosen}
      choose={(tab) => setQuery({ tab: tab === "steps" ? "" : tab, status: "" })}
    >
      {chosen === "steps" ? <Steps automation={automation} stats={stats} names={names} /> : null}
      {chosen === "entries" ? <AutomationEntries automation={automation} names={names} /> : null}
      {chosen === "dry-run" ? <Trial automation={automation} names={names} /> : null}
      {chosen === "versions" ? <Versions automation={automation} /> : null}
      {chosen === "history" ? <History id={automation.id} /> : null}
      {chosen === "settings" ? <AutomationSettings automation={automation} names={names} done={reload} /> : null}
    </Tabs>
  );
}

/** Note shown above a version other than the newest. */
function OldVersion({ automation: { version, shownVersion } }: { readonly automation: AutomationDetail }) {
  if (version === shownVersion) return null;
  return (
    <p class="note">
      <span>
        This is version {shownVersion} of {version}. Contacts that entered with it stay in it; the numbers are those of all versions.{" "}
        <button type="button" class="link" onClick={() => setQuery({ version: "" })}>
          Show the newest
        </button>
      </span>
    </p>
  );
}

function Steps({ automation, stats, names }: Omit<ShownProps, "reload">) {
  const [chosen, choose] = useState("trigger");
  return (
    <div class="stack">
      <OldVersion automation={automation} />
      {stats === null ? null : <Figures automation={automation} stats={stats} />}
      {automation.steps.length === 0 ? (
        <Empty title="It has no steps yet">
          <p>Edit it to add what happens to contacts that enter.</p>
        </Empty>
      ) : (
        <div class="flow-columns">
          <Flow definition={automation} trigger={automation.trigger} names={names} stats={stats} chosen={chosen} choose={choose} />
          <StepCard automation={automation} stats={stats} names={names} id={chosen} />
        </div>
      )}
    </div>
  );
}

function Figures({ automation, stats }: { readonly automation: AutomationDetail; readonly stats: AutomationStats }) {
  const { goalConversions, goalConversionRate, goal, revenueGenerated, currency } = automation;
  const figure = (name: string, value: string, more = "", tone = "") => (
    <div class={tone}>
      <dt>{name}</dt>
      <dd>
        {value} {more === "" ? null : <span class="soft">{more}</span>}
      </dd>
    </div>
  );
  return (
    <dl class="figures small">
      {figure("Entered", formatCount(stats.entered))}
      {figure("Inside now", formatCount(stats.inside))}
      {figure("Completed", formatCount(stats.completed))}
      {figure("Left", formatCount(stats.exited))}
      {stats.failed === 0 ? null : figure("Failed", formatCount(stats.failed), "", "bad")}
      {goal === null && goalConversions === 0 ? null : figure("Goal", formatCount(goalConversions), formatShare(goalConversionRate))}
      {revenueGenerated === 0
        ? null
        : figure(
            "Revenue",
            new Intl.NumberFormat(LOCALE, { style: "currency", currency, maximumFractionDigits: 0 }).format(revenueGenerated),
          )}
    </dl>
  );
}

function Trial({ automation, names }: Omit<ShownProps, "reload" | "stats">) {
  const [run, show] = useState<Run | null>(null);
  const [chosen, choose] = useState("trigger");
  return (
    <div class="stack">
      <OldVersion automation={automation} />
      <div class="flow-columns">
        <Flow definition={automation} trigger={automation.trigger} names={names} path={toRunPath(run)} chosen={chosen} choose={choose} />
        <DryRun id={automation.id} definition={automation} version={automation.shownVersion} names={names} run={run} show={show} />
      </div>
    </div>
  );
}

function toRunPath(run: Run | null): Path | null {
  return run === null ? null : { steps: run.path, next: null };
}

const VERSION_COLUMNS: readonly Column<AutomationVersion & { readonly id: string }>[] = [
  { head: "Version", width: "1 1 0", cell: ({ version }) => `Version ${version}` },
  {
    head: "State",
    width: "0 0 8rem",
    cell: ({ current }) => (current ? <Status status="active" text="newest" /> : <span class="soft">older</span>),
  },
  { head: "Steps", width: "0 0 5rem", wide: true, cell: ({ steps }) => formatCount(steps) },
  {
    head: "Templates",
    width: "2 1 0",
    wide: true,
    cell: ({ templates }) => (
      <span class="soft">{templates === null ? "not pinned: never active" : `${Object.keys(templates).length} pinned`}</span>
    ),
  },
  { head: "Made", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The definitions that it has had. */
function Versions({ automation: { id, version } }: { readonly automation: AutomationDetail }) {
  const list = useList(
    async (cursor, signal) => {
      const page = await api.automations.versions(id, { limit: 100, ...(cursor && { cursor }) }, { signal });
      return { ...page, data: page.data.map((one) => ({ ...one, id: String(one.version).padStart(6, "0") })) };
    },
    [id, version],
  );
  return (
    <DataTable
      label="Versions"
      list={list}
      columns={VERSION_COLUMNS}
      href={({ version: one, current }) => toHref(`/automations/${id}${current ? "" : `?version=${one}`}`)}
      empty={<Empty title="No versions" />}
    />
  );
}
