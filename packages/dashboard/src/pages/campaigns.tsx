/** @jsxImportSource preact */
import type { Campaign } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { describeAudience, type Group, useGroups } from "../parts/campaigns/groups.ts";
import { NewCampaign } from "../parts/campaigns/new-campaign.tsx";
import { Progress } from "../parts/campaigns/progress.tsx";
import { CAMPAIGN_STATES, nameState } from "../parts/campaigns/states.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Subject } from "../parts/subject.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

/** The campaigns of the workspace: where each stands, and how far it is. */
export default function Campaigns() {
  const groups = useGroups();
  return (
    <ListPage
      title="Campaigns"
      about="One email to many people: drafts, scheduled, sending and sent."
      actions={may("campaigns:write") ? <NewCampaign /> : null}
      filters={[{ name: "status", label: "State", options: CAMPAIGN_STATES }]}
      load={api.campaigns.list}
      live={({ type }) => type.startsWith("campaign.")}
      columns={listColumns(groups.data ?? [])}
      href={({ id, status }) => toHref(status === "DRAFT" && may("campaigns:write") ? `/campaigns/${id}/edit` : `/campaigns/${id}`)}
      empty="No campaigns yet"
      start={
        <p>
          {may("campaigns:write")
            ? "Write your first one: choose who gets it, preview it, and send it when it is ready."
            : "Campaigns that your colleagues write are shown here."}
        </p>
      }
      none="No campaign is in this state"
    />
  );
}

function listColumns(groups: readonly Group[]): readonly Column<Campaign>[] {
  return [
    {
      head: "Name",
      width: "3 1 0",
      cell: ({ name, subjectLine }) => (
        <>
          {name}{" "}
          <span class="soft beside">
            <Subject text={subjectLine} />
          </span>
        </>
      ),
    },
    {
      head: "State",
      width: "0 0 6.5rem",
      cell: (campaign) => <Status status={campaign.status} text={nameState(campaign)} />,
    },
    { head: "Audience", width: "2 1 0", second: true, cell: (campaign) => <span class="soft">{describeAudience(campaign, groups)}</span> },
    { head: "Progress", width: "2 1 12rem", wide: true, cell: (campaign) => <Progress campaign={campaign} /> },
    {
      head: "Date",
      width: "0 0 9rem",
      cell: ({ startedAt, scheduledAt, updatedAt, status }) => (
        <span>
          {startedAt !== null ? "sent" : status === "SCHEDULED" ? "starts" : "edited"}{" "}
          <Time at={startedAt ?? (status === "SCHEDULED" ? scheduledAt : null) ?? updatedAt} />
        </span>
      ),
    },
  ];
}
