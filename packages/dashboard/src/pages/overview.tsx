/** @jsxImportSource preact */

import type { MetricsReport } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { LOCALE } from "../browser.ts";
import { CaptureNote } from "../parts/capture-note.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { LimitsButton } from "../parts/overview/limits.tsx";
import { loadNeeds, type Need } from "../parts/overview/needs.ts";
import { Receivers, Totals } from "../parts/overview/totals.tsx";
import { Page } from "../parts/page.tsx";
import { count } from "../parts/plural.ts";
import { useEvents, useResource } from "../parts/resource.ts";
import { serverNow } from "../parts/time.tsx";
import { query, setQuery, toHref } from "../router.tsx";

const DAY_MS = 86_400_000;
// Looks at the same numbers after events, which come by the thousand while a campaign is sent.
const REFRESH_MS = 5000;
const PERIODS = [7, 30, 90] as const;

/** The first page: what needs a person, what is under way, and how mail does. */
export default function Overview() {
  const days = PERIODS.find((one) => String(one) === query.value.get("days")) ?? 30;
  const report = useResource((signal) => loadReport(days, undefined, signal), [days]);
  const receivers = useResource((signal) => loadReport(days, "domain", signal), [days]);
  const needs = useResource(loadNeeds, []);
  const underWay = useResource(loadUnderWay, []);
  useEvents(
    () => true,
    () => {
      for (const one of [report, receivers, needs, underWay]) one.reload();
    },
    REFRESH_MS,
  );
  const error = report.error ?? needs.error ?? underWay.error;
  const loaded = report.data !== null && needs.data !== null && underWay.data !== null;
  const isNew =
    loaded && report.data?.total.accepted === 0 && report.data.total.sent === 0 && needs.data?.length === 0 && underWay.data?.length === 0;
  return (
    <Page
      title="Overview"
      actions={
        loaded && !isNew ? (
          <>
            <Period days={days} />
            {may("campaigns:write") ? <LimitsButton /> : null}
          </>
        ) : null
      }
    >
      <CaptureNote />
      {!loaded ? (
        error === null ? (
          <Loading />
        ) : (
          <ErrorNote error={error} retry={report.reload} />
        )
      ) : isNew ? (
        <FirstSteps />
      ) : (
        <div class="overview">
          <Needs needs={needs.data ?? []} />
          <UnderWayList entries={underWay.data ?? []} />
          <Totals report={report.data as MetricsReport} />
          {receivers.data === null ? null : <Receivers report={receivers.data} />}
        </div>
      )}
    </Page>
  );
}

function loadReport(days: number, by: "domain" | undefined, signal: AbortSignal): Promise<MetricsReport> {
  const from = new Date(serverNow() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  return api.metrics.get({ from, interval: by ? "all" : "day", ...(by && { by, limit: 8 }) }, { signal });
}

function Period({ days }: { readonly days: number }) {
  return (
    <fieldset class="toggles">
      <legend class="hidden">Period</legend>
      {PERIODS.map((one) => (
        <button key={one} type="button" aria-pressed={one === days} onClick={() => setQuery({ days: String(one) })}>
          {one} days
        </button>
      ))}
    </fieldset>
  );
}

function Needs({ needs }: { readonly needs: readonly Need[] }) {
  return (
    <section class="card" aria-labelledby="needs">
      <h2 id="needs">Needs you</h2>
      {needs.length === 0 ? <p class="soft">Nothing right now. All is well.</p> : null}
      <ul class="entries">
        {needs.map(({ tone, text, more, path }) => (
          <li key={`${path}${text}`}>
            <span class={`dot ${tone}`} aria-hidden="true" />
            <a href={toHref(path)}>{text}</a>
            {more === null ? null : <span class="soft">{more}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function UnderWayList({ entries }: { readonly entries: readonly UnderWay[] }) {
  return (
    <section class="card" aria-labelledby="under-way">
      <h2 id="under-way">Under way</h2>
      {entries.length === 0 ? <p class="soft">No campaigns are sending or scheduled, and no automations are active.</p> : null}
      <ul class="entries">
        {entries.map(({ name, what, path }) => (
          <li key={path}>
            <span class="dot busy" aria-hidden="true" />
            <a href={toHref(path)}>{name}</a>
            <span class="soft">{what}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A campaign or an automation at work. */
interface UnderWay {
  readonly name: string;
  readonly what: string;
  readonly path: string;
}

const WHEN = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
// Of each kind; the pages of the navigation have all.
const SHOWN = 5;

/** Loads what is being sent, is scheduled or runs. */
async function loadUnderWay(signal: AbortSignal): Promise<UnderWay[]> {
  const looks: Promise<UnderWay[]>[] = [];
  if (may("campaigns:read")) looks.push(listCampaigns("SENDING", signal), listCampaigns("SCHEDULED", signal));
  if (may("automations:read")) looks.push(listAutomations(signal));
  return (await Promise.all(looks)).flat();
}

async function listCampaigns(status: "SENDING" | "SCHEDULED", signal: AbortSignal): Promise<UnderWay[]> {
  const { data } = await api.campaigns.list({ status, limit: SHOWN }, { signal });
  return data.map(({ id, name, scheduledAt }) => ({
    name,
    what: status === "SENDING" ? "is being sent" : scheduledAt === null ? "is scheduled" : `starts ${WHEN.format(Date.parse(scheduledAt))}`,
    path: `/campaigns/${id}`,
  }));
}

async function listAutomations(signal: AbortSignal): Promise<UnderWay[]> {
  const { data, pagination } = await api.automations.list({ status: "ACTIVE", limit: SHOWN }, { signal });
  const shown = data.map(({ id, name }) => ({ name, what: "automation, active", path: `/automations/${id}` }));
  const more = pagination.total - shown.length;
  return more > 0 ? [...shown, { name: count(more, "more automation"), what: "active", path: "/automations" }] : shown;
}

const SEND = 'npx mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text "It works."';

/** Three steps for a server without mail. */
function FirstSteps() {
  return (
    <ol class="first-steps">
      <li class="card">
        <h2>Send a first mail</h2>
        <p>From a terminal, or with the API from your program. It shows up under Activity at once.</p>
        <CodeBlock code={SEND} label="Command that sends a mail" />
      </li>
      <li class="card">
        <h2>Verify your domain</h2>
        <p>Publish one DNS record, so that mail may leave from your own address.</p>
        {may("senders:read") ? <a href={toHref("/senders")}>Add a sender</a> : null}
      </li>
      <li class="card">
        <h2>Bring your contacts</h2>
        <p>Import a CSV file, then write to them with a campaign.</p>
        {may("contacts:read") ? <a href={toHref("/contacts/import")}>Import contacts</a> : null}
      </li>
    </ol>
  );
}
