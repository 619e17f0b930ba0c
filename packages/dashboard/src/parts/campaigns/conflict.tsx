/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { nameBlock } from "../blocks/kinds.ts";
import { Conflict } from "../conflict.tsx";
import { formatReplyTo } from "../reply-to.ts";
import { type CampaignDraft, type CampaignFields, PARTS } from "./draft.ts";
import { describeAudience, type Group, listNamedGroups } from "./groups.ts";
import { describePace, describeTracking } from "./settings.tsx";

/** Tells that a colleague has saved another version, and lets the person take it or keep their own. */
export function CampaignConflict({ draft, groups }: { readonly draft: CampaignDraft; readonly groups: readonly Group[] }) {
  const theirs = draft.theirs.value;
  if (theirs === null) return null;
  const mine = draft.fields.value;
  const named = [...groups, ...listNamedGroups(theirs)];
  return (
    <Conflict
      what="campaign"
      at={theirs.updatedAt}
      differing={[...draft.disputed].map((name) => ({
        name,
        theirs: describePart(name, theirs, named),
        mine: describePart(name, mine, named),
      }))}
      takeTheirs={() => void draft.takeTheirs()}
      keepMine={() => void draft.keepMine()}
    />
  );
}

/** Describes one part of a campaign. */
function describePart(part: string, campaign: CampaignDetail, groups: readonly Group[]): string {
  const { templateId, html, text, blocks, fromName, fromEmail } = campaign;
  if (part === "audience") return describeAudience(campaign, groups);
  if (part === "sender") return fromName === null ? fromEmail : `${fromName} <${fromEmail}>`;
  if (part === "content" && blocks !== null) return blocks.map(nameBlock).join("\n");
  if (part === "content") return templateId === null ? [html, text].filter(Boolean).join("\n\n") : `the template ${templateId}`;
  if (part === "pace") return describePace(campaign, 0);
  if (part === "tracking") return describeTracking(campaign);
  const names = (Object.keys(PARTS) as (keyof CampaignFields)[]).filter((name) => PARTS[name] === part);
  return names.map((name) => (name === "replyTo" ? formatReplyTo(campaign.replyTo) : format(campaign[name]))).join("\n");
}

function format(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
