/** @jsxImportSource preact */
import type { CampaignDetail, CampaignStats } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { CampaignActions } from "../parts/campaigns/actions.tsx";
import { CampaignPreview } from "../parts/campaigns/preview.tsx";
import { Bar, countDone, useCampaignStats } from "../parts/campaigns/progress.tsx";
import { CampaignRecipients } from "../parts/campaigns/recipients.tsx";
import { CampaignReport } from "../parts/campaigns/report.tsx";
import { CampaignSettings } from "../parts/campaigns/settings.tsx";
import { nameState } from "../parts/campaigns/states.ts";
import { formatInstant, ownTimeZone } from "../parts/campaigns/zoned-time.ts";
import { History } from "../parts/history.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount, count as plural } from "../parts/plural.ts";
import { ProposedBy } from "../parts/proposed-by.tsx";
import { useEvents, useRegularly, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Subject } from "../parts/subject.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { go, type PageProps, query, setQuery, toHref } from "../router.tsx";

/** One campaign: how far it is, what became of it, and what it said. A draft is shown in its editor to those who may change it. */
export default function CampaignPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const campaign = useResource((signal) => api.campaigns.get(id, { signal }), [id]);
  const { data, reload } = campaign;
  useEvents(({ campaignId, type }) => campaignId === id && type.startsWith("campaign."), reload);
  const isEditable = data?.status === "DRAFT" && may("campaigns:write");
  useEffect(() => {
    if (isEditable) go(`/campaigns/${id}/edit`, { replace: true });
  }, [isEditable]);
  return (
    <Page
      title={data?.name ?? "Campaign"}
      back={{ href: toHref("/campaigns"), name: "Campaigns" }}
      about={data === null ? null : <About campaign={data} />}
      actions={data !== null && may("campaigns:write") && !isEditable ? <CampaignActions campaign={data} done={reload} /> : null}
    >
      <Loaded from={campaign}>{(shown) => (isEditable ? null : <Shown campaign={shown} reload={reload} />)}</Loaded>
    </Page>
  );
}

function About({ campaign }: { readonly campaign: CampaignDetail }) {
  const { status, subjectLine } = campaign;
  return (
    <>
      <Status status={status} text={nameState(campaign)} /> <Subject text={subjectLine} />
      <ProposedBy proposedBy={campaign.proposedBy} />
    </>
  );
}

interface ShownProps {
  readonly campaign: CampaignDetail;
  readonly reload: () => void;
}

function Shown({ campaign, reload }: ShownProps) {
  return campaign.startedAt === null ? <NotStarted campaign={campaign} /> : <Started campaign={campaign} reload={reload} />;
}

/** A campaign that has no report yet. */
function NotStarted({ campaign }: { readonly campaign: CampaignDetail }) {
  return (
    <div class="editor">
      <div class="column">
        <Outlook campaign={campaign} />
        <CampaignSettings campaign={campaign} />
        <History id={campaign.id} />
      </div>
      <aside class="column" aria-label="As readers see it">
        <CampaignPreview campaign={campaign} />
      </aside>
    </div>
  );
}

/** Note on the campaign's next step. */
function Outlook({ campaign }: { readonly campaign: CampaignDetail }) {
  const { id, status, statusReason, scheduledAt, localTime } = campaign;
  const audience = useResource((signal) => api.campaigns.audience(id, { signal }), [id, status]);
  const people = audience.data === null ? null : plural(audience.data.subscribed, "person", "people");
  const zone = ownTimeZone();
  if (status === "SCHEDULED" && scheduledAt !== null)
    return (
      <section class="card summary busy">
        <h2>Sending starts on {formatInstant(Date.parse(scheduledAt), zone)}</h2>
        <p>
          {localTime === null ? "" : `Each reader gets it when their own clock shows ${localTime.at.replace("T", " ")}. `}
          {people === null ? "" : `${people} would get it now; the audience is counted again at the start. `}Until then you can move the
          date, edit or cancel it.
        </p>
        {campaign.html === null && campaign.text === null && campaign.templateId === null && campaign.abTest === null ? (
          <p role="alert">It has no content yet. Give it some before that time, or it does not start.</p>
        ) : null}
      </section>
    );
  if (status === "PAUSED")
    return (
      <section class="card summary warn" role="alert">
        <h2>It was held before it started</h2>
        <p>{statusReason?.message ?? "It was paused by hand."}</p>
        <p class="soft">
          Nothing was sent. {people === null ? "" : `${people} would get it now. `}Send it now, choose another date, or edit it.
        </p>
      </section>
    );
  if (status === "CANCELLED")
    return (
      <section class="card summary">
        <h2>It was cancelled before it started</h2>
        <p>Nothing was sent. To send it after all, duplicate it.</p>
      </section>
    );
  return (
    <section class="card summary">
      <h2>It is a draft</h2>
      <p>{people === null ? "Nothing was sent yet." : `${people} would get it now.`}</p>
    </section>
  );
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
// Beyond three days, hours are too fine to be seen.
const MAX_HOURS = 72;

/** A campaign that goes out, or went out. */
function Started({ campaign, reload }: ShownProps) {
  const { id, startedAt, status } = campaign;
  const [interval, setScale] = useState<"hour" | "day">("hour");
  const stats = useCampaignStats(id, interval, [status]);
  const chosen = query.value.get("tab") ?? "report";
  const { data } = stats;
  const isOver = status === "SENT" || status === "CANCELLED";
  // No event reports released or skipped recipients, so poll.
  useRegularly(() => {
    if (!isOver || (data !== null && data.recipients.queued > 0)) stats.reload();
  });
  const hours = data === null ? 0 : (Date.parse(data.computedAt) - Date.parse(startedAt ?? data.computedAt)) / HOUR;
  useEffect(() => {
    if (hours > MAX_HOURS) setScale("day");
  }, [hours > MAX_HOURS]);
  return (
    <>
      {data === null ? null : <State campaign={campaign} stats={data} />}
      <Tabs
        label="The campaign"
        tabs={[
          { name: "report", label: "Report" },
          { name: "recipients", label: "Recipients", ...(data && { count: data.recipients.total }) },
          { name: "content", label: "Content" },
          { name: "settings", label: "Settings" },
        ]}
        chosen={chosen}
        choose={(tab) => setQuery({ tab: tab === "report" ? "" : tab, status: "" })}
      >
        {chosen === "report" ? (
          <Loaded from={stats}>{(shown) => <CampaignReport {...{ campaign, stats: shown, interval, setScale }} decided={reload} />}</Loaded>
        ) : null}
        {chosen === "recipients" ? <CampaignRecipients campaign={campaign} /> : null}
        {chosen === "content" ? <CampaignPreview campaign={campaign} /> : null}
        {chosen === "settings" ? (
          <>
            <CampaignSettings campaign={campaign} />
            <History id={campaign.id} />
          </>
        ) : null}
      </Tabs>
    </>
  );
}

/** Progress in words and as a bar. */
function State({ campaign, stats }: { readonly campaign: CampaignDetail; readonly stats: CampaignStats }) {
  const { status, statusReason, startedAt, completedAt } = campaign;
  const { done, total } = countDone(stats);
  const left = total - done;
  const { deferred } = stats.recipients;
  if (status === "SENT" || status === "CANCELLED")
    return (
      <p class="soft">
        Started {startedAt === null ? null : <Time at={startedAt} exactly />}, {status === "SENT" ? "finished" : "cancelled"}{" "}
        {completedAt === null ? "now" : <Time at={completedAt} exactly />}.
        {deferred === 0 ? "" : ` ${plural(deferred, "mail is", "mails are")} tried again: their servers asked to wait.`}
      </p>
    );
  return (
    <section class={`card summary state ${status === "PAUSED" ? "warn" : "busy"}`} aria-label="Progress">
      <h2>{describeLeft(campaign, left, total)}</h2>
      <Bar done={done} total={total} />
      {stats.quiet === null || status === "PAUSED" ? null : (
        <p role="status">
          No mail has left for {plural(Math.floor((Date.parse(stats.computedAt) - Date.parse(stats.quiet.since)) / MINUTE), "minute")}.{" "}
          {stats.quiet.reason}
        </p>
      )}
      <p class="soft">
        {status === "PAUSED"
          ? (statusReason?.message ?? "Nothing is released until somebody resumes it. Mail that was under way still arrives.")
          : `Since ${startedAt === null ? "" : formatInstant(Date.parse(startedAt), ownTimeZone())}.${deferred === 0 ? "" : ` ${formatCount(deferred)} deferred.`}`}
      </p>
    </section>
  );
}

/** Describes the pending recipients and the reason they wait. */
function describeLeft({ status, abTest, winner, localTime }: CampaignDetail, left: number, total: number): string {
  const people = plural(left, "person", "people");
  if (status === "PAUSED") return `Paused: ${plural(left, "person waits", "people wait")}`;
  const isTested = abTest !== null && winner === null && left <= Math.ceil(total * (1 - abTest.samplePercent / 100));
  if (isTested && left > 0) return `The sample is out: ${people} ${left === 1 ? "waits" : "wait"} for the winner`;
  return `Sending: ${people} to go${localTime === null ? "" : `, each at ${localTime.at.replace("T", " ")} on their own clock`}`;
}
