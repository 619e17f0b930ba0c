import type {
  AbTest,
  Campaign,
  CampaignStatus,
  LocalTime,
  MailBlocks,
  ProposedBy,
  RecipientType,
  ResendOf,
  Throttle,
  Utm,
  VariantName,
} from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";
import type { PinnedTemplate } from "../templates/templates.ts";

export function campaignTables(c: ColumnTypes) {
  return {
    /** A campaign and its state: see `states.ts`. Its recipients are rows of `emails`. */
    campaigns: c.table(
      "campaigns",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        subjectLine: c.text("subject_line").notNull(),
        fromEmail: c.text("from_email").notNull(),
        fromName: c.text("from_name"),
        replyTo: c.json<string | string[]>("reply_to"),
        previewText: c.text("preview_text"),
        templateId: c.text("template_id"),
        html: c.text("html"),
        text: c.text("text_body"),
        /** The blocks that the HTML was rendered from. */
        blocks: c.json<MailBlocks>("blocks"),
        recipientType: c.text("recipient_type").$type<RecipientType>().notNull(),
        segmentId: c.text("segment_id"),
        listId: c.text("list_id"),
        /** Ids of lists and segments: of `groups`, and of those that do not get it. */
        include: c.json<readonly string[]>("include").notNull(),
        exclude: c.json<readonly string[]>("exclude").notNull(),
        resendOf: c.json<ResendOf>("resend_of"),
        status: c.text("status").$type<CampaignStatus>().notNull(),
        statusReason: c.json<NonNullable<Campaign["statusReason"]>>("status_reason"),
        scheduledAt: c.instant("scheduled_at"),
        /** The relay of its mail; null for that of its sender or workspace. */
        relay: c.text("relay"),
        throttle: c.json<Throttle>("throttle"),
        localTime: c.json<LocalTime>("local_time"),
        abTest: c.json<AbTest>("ab_test"),
        winner: c.text("winner").$type<VariantName>(),
        trackOpens: c.flag("track_opens").notNull(),
        trackClicks: c.flag("track_clicks").notNull(),
        utm: c.json<Utm>("utm"),
        proposedBy: c.json<ProposedBy>("proposed_by"),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
        startedAt: c.instant("started_at"),
        completedAt: c.instant("completed_at"),
        /** Incremented whenever a new chain of jobs takes over, which ends the one before. */
        run: c.int("run").notNull(),
        /** The number of contacts in its audience; null until sending starts. */
        audience: c.int("audience"),
        /** The `seq` of the last contact that was made a recipient, or skipped. */
        cursor: c.reference("cursor").notNull(),
        /** Recipients so far, except skipped ones: their places in the sample of an A/B test. */
        eligible: c.int("eligible").notNull(),
        /** Time at which all contacts of the audience had been read. */
        expandedAt: c.instant("expanded_at"),
        /** The throttle lets no email go before this instant. */
        nextReleaseAt: c.instant("next_release_at"),
        /** Time at which all recipients had been released for delivery. */
        releasedAt: c.instant("released_at"),
        /** Time at which the winner of the A/B test is decided. */
        decideAt: c.instant("decide_at"),
      },
      (t) => [c.index("campaigns_workspace").on(t.workspaceId, t.id), c.index("campaigns_status").on(t.workspaceId, t.status, t.id)],
    ),
    ...pinnedTables(c),
    /** Recipients that opened, clicked or unsubscribed: the first time of each, without those by machines. */
    campaignReactions: c.table(
      "campaign_reactions",
      {
        campaignId: c.text("campaign_id").notNull(),
        emailId: c.text("email_id").notNull(),
        openedAt: c.instant("opened_at"),
        clickedAt: c.instant("clicked_at"),
        unsubscribedAt: c.instant("unsubscribed_at"),
      },
      (t) => [c.primaryKey({ columns: [t.campaignId, t.emailId] })],
    ),
    ...linkTables(c),
  };
}

/** Tables of the links that recipients clicked. */
function linkTables(c: ColumnTypes) {
  return {
    /** Recipients that clicked a link, without machines. */
    campaignLinkClicks: c.table(
      "campaign_link_clicks",
      {
        campaignId: c.text("campaign_id").notNull(),
        link: c.text("link").notNull(),
        emailId: c.text("email_id").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.campaignId, t.link, t.emailId] }), c.index("campaign_link_clicks_email").on(t.emailId)],
    ),
    /** The links of a campaign that were clicked, with counters in parts that add up. */
    campaignLinks: c.table(
      "campaign_links",
      {
        campaignId: c.text("campaign_id").notNull(),
        /** A hash of the address. */
        link: c.text("link").notNull(),
        part: c.int("part").notNull(),
        url: c.text("url").notNull(),
        clicks: c.int("clicks").notNull(),
        uniqueClicks: c.int("unique_clicks").notNull(),
        machineClicks: c.int("machine_clicks").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.campaignId, t.link, t.part] })],
    ),
  };
}

/** Tables with the recipients and contents of a campaign, fixed when sending starts. */
function pinnedTables(c: ColumnTypes) {
  return {
    /** Contacts that are the audience of a campaign since it started, in ascending groups; none once all of them are recipients. */
    campaignAudience: c.table(
      "campaign_audience",
      {
        campaignId: c.text("campaign_id").notNull(),
        /** The largest of `seqs`. */
        last: c.reference("last").notNull(),
        /** The `seq`s of contacts, with commas between them. */
        seqs: c.text("seqs").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.campaignId, t.last] })],
    ),
    /** Contents of a campaign, fixed when sending starts: one row, or one for each variant of an A/B test. */
    campaignContents: c.table(
      "campaign_contents",
      {
        campaignId: c.text("campaign_id").notNull(),
        /** Empty without an A/B test. */
        variant: c.text("variant").notNull(),
        /** The row of `contents` that the emails name. */
        contentsId: c.reference("contents_id").notNull(),
        previewText: c.text("preview_text"),
        /** The template with its layout and partials, so that no later change reaches the campaign. */
        source: c.json<PinnedTemplate>("source").notNull(),
        /** Hash of the source and the preview text: the key of the compiled template in memory. */
        hash: c.text("hash"),
      },
      (t) => [c.primaryKey({ columns: [t.campaignId, t.variant] }), c.uniqueIndex("campaign_contents_id").on(t.contentsId)],
    ),
  };
}

export type CampaignTables = ReturnType<typeof campaignTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly cmp: "campaigns";
  }
}
