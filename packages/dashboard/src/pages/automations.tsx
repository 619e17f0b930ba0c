/** @jsxImportSource preact */
import type { Automation } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { NewAutomation } from "../parts/automations/new-automation.tsx";
import { TRIGGERS } from "../parts/automations/words.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { formatCount } from "../parts/plural.ts";
import { NUMBERS_MS } from "../parts/resource.ts";
import { formatShare } from "../parts/share.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Automation>[] = [
  { head: "Name", width: "3 1 0", cell: ({ name }) => name },
  { head: "State", width: "0 0 5.5rem", cell: ({ status }) => <Status status={status} /> },
  { head: "Begins when", width: "2 1 0", second: true, cell: ({ triggerType }) => <span class="soft">{TRIGGERS[triggerType]}</span> },
  { head: "Entered", width: "0 0 5.5rem", wide: true, cell: ({ totalEntered }) => <span class="number">{formatCount(totalEntered)}</span> },
  {
    head: "Completed",
    width: "0 0 6rem",
    wide: true,
    cell: ({ totalCompleted }) => <span class="number">{formatCount(totalCompleted)}</span>,
  },
  {
    head: "Goal",
    width: "0 0 8rem",
    wide: true,
    cell: ({ goalType, goalConversions, goalConversionRate }) =>
      goalType === null && goalConversions === 0 ? (
        <span class="soft">no goal</span>
      ) : (
        <span class="number">
          {formatCount(goalConversions)} <span class="soft">{formatShare(goalConversionRate)}</span>
        </span>
      ),
  },
  { head: "Changed", width: "0 0 6.5rem", wide: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** The automations of the workspace: what starts each, and how many went through it. */
export default function Automations() {
  return (
    <ListPage
      title="Automations"
      about="Emails and changes that follow each contact, step by step: a welcome series, a reminder."
      actions={may("automations:write") ? <NewAutomation /> : null}
      filters={[
        {
          name: "status",
          label: "State",
          options: [
            { value: "DRAFT", text: "draft" },
            { value: "ACTIVE", text: "active" },
            { value: "PAUSED", text: "paused" },
          ],
        },
        { name: "archived", label: "Archived", options: [{ value: "true", text: "archived only" }] },
      ]}
      load={api.automations.list}
      live={({ automationId }) => automationId !== null}
      settleMs={NUMBERS_MS}
      columns={COLUMNS}
      href={({ id }) => toHref(`/automations/${id}`)}
      empty="No automations yet"
      start={
        <p>
          {may("automations:write")
            ? "Start with a welcome series: an email when a contact is created, and another a few days later."
            : "Automations that your colleagues make are shown here."}
        </p>
      }
      none="No automation fits these filters"
    />
  );
}
