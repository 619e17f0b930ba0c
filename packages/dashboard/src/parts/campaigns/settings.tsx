/** @jsxImportSource preact */

import type { CampaignDetail } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { Facts } from "../facts.tsx";
import { ObjectLink } from "../object-link.tsx";
import { count, formatCount } from "../plural.ts";
import { formatReplyTo } from "../reply-to.ts";
import { formatShare } from "../share.ts";
import { Subject } from "../subject.tsx";
import { Time } from "../time.tsx";
import { describeAudience, listNamedGroups } from "./groups.ts";
import { VARIANTS } from "./states.ts";
import { formatInstant, ownTimeZone } from "./zoned-time.ts";

type Pace = Pick<CampaignDetail, "throttle" | "relay" | "localTime">;

/** Describes the sending speed, and the duration for that many people. */
export function describePace({ throttle, relay }: Pace, people: number): string {
  const perSecond = throttle?.perSecond;
  const window = throttle?.window;
  const rate = perSecond === undefined ? "As fast as the relay takes it" : `At most ${formatCount(perSecond)} a second`;
  const lasts = perSecond === undefined || people === 0 ? "" : `, so for ${formatLength(people / perSecond)}`;
  const hours = window === undefined ? "" : `, from ${window.start} to ${window.end} (${window.timeZone.replaceAll("_", " ")})`;
  return `${rate}${lasts}${hours}${relay === null ? "" : `, by the relay ${relay}`}.`;
}

/** A length of time in words, seconds given. */
function formatLength(seconds: number): string {
  if (seconds < 90) return "about a minute";
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} minutes`;
  if (seconds < 172_800) return `about ${Math.round(seconds / 3600)} hours`;
  return `about ${Math.round(seconds / 86_400)} days`;
}

/** Describes the wait for the test sample. */
export function describeWait(minutes: number): string {
  if (minutes < 60) return count(minutes, "minute");
  return minutes === 60 ? "an hour" : `${formatCount(minutes / 60)} hours`;
}

/** Describes the tracking. */
export function describeTracking({ trackOpens, trackClicks }: Pick<CampaignDetail, "trackOpens" | "trackClicks">): string {
  if (trackOpens && trackClicks) return "Opens and clicks.";
  return trackOpens ? "Opens, but no clicks." : trackClicks ? "Clicks, but no opens." : "Neither opens nor clicks.";
}

const WINNER = { opens: "the most opens", clicks: "the most clicks", manual: "your choice" } as const;

/** The A/B test of a campaign, a line for each variant and one on how it is decided; empty without one. */
export function describeTest({ abTest, subjectLine }: Pick<CampaignDetail, "abTest" | "subjectLine">): readonly string[] {
  if (abTest === null) return [];
  const { variants, samplePercent, winner, decideAfterMinutes } = abTest;
  const after = winner === "manual" ? "" : `, after ${describeWait(decideAfterMinutes)}`;
  return [
    ...variants.slice(1).map((variant, i) => {
      const isOwn = variant.blocks ?? variant.html ?? variant.text ?? variant.templateId;
      return `${VARIANTS[i + 1]}: ${variant.subjectLine ?? subjectLine}${isOwn === undefined ? "" : ", with its own content"}`;
    }),
    samplePercent === 100
      ? "Everybody gets one of them."
      : `Tried on ${formatShare(samplePercent / 100)} of the audience; the rest gets the one with ${WINNER[winner]}${after}.`,
  ];
}

/** Settings of a campaign. */
export function CampaignSettings({ campaign }: { readonly campaign: CampaignDetail }) {
  const { fromName, fromEmail, replyTo, subjectLine, previewText, template, templateId, resendOf, localTime, utm } = campaign;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ["Audience", describeAudience(campaign, listNamedGroups(campaign))],
    ["Sent again", resendOf && <ObjectLink key="earlier" id={resendOf.campaignId} />],
    ["From", fromName === null ? fromEmail : `${fromName} <${fromEmail}>`],
    ["Replies to", formatReplyTo(replyTo)],
    ["Subject", <Subject key="subject" text={subjectLine} />],
    ["Preview text", previewText],
    ["Variants", describeTest(campaign).length === 0 ? null : describeTest(campaign).map((line) => <div key={line}>{line}</div>)],
    [
      "Template",
      template ? `${template.name}${template.version === null ? "" : `, version ${template.version}`}` : templateId && "Deleted template",
    ],
    [
      "Readers' time",
      localTime && `${localTime.at.replace("T", " ")} on each reader's clock; ${localTime.fallback} for contacts without a time zone`,
    ],
    ["Pace", describePace(campaign, 0)],
    ["Tracking", describeTracking(campaign)],
    [
      "UTM",
      utm &&
        Object.entries(utm)
          .map(([name, value]) => `${name}: ${value}`)
          .join(", "),
    ],
    ["Scheduled", campaign.scheduledAt && formatInstant(Date.parse(campaign.scheduledAt), ownTimeZone())],
    ["Created", <Time key="created" at={campaign.createdAt} exactly />],
    ["Changed", <Time key="changed" at={campaign.updatedAt} exactly />],
    ["Campaign", <code key="id">{campaign.id}</code>],
  ];
  return (
    <section class="card">
      <h2>Settings</h2>
      <Facts facts={facts} />
    </section>
  );
}
