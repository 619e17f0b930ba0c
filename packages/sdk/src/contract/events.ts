import { CONTACT_EVENT_TYPES } from "./contacts.ts";
import { EMAIL_EVENT_TYPES } from "./emails.ts";
import { LIST_EVENT_TYPES } from "./lists.ts";
import { SEGMENT_EVENT_TYPES } from "./segments.ts";
import { SUPPRESSION_EVENT_TYPES } from "./suppressions.ts";

export const CAMPAIGN_EVENT_TYPES = [
  "campaign.scheduled",
  "campaign.started",
  "campaign.paused",
  "campaign.resumed",
  "campaign.completed",
  "campaign.cancelled",
  "campaign.failed",
] as const;

export const AUTOMATION_EVENT_TYPES = [
  "automation.entered",
  "automation.completed",
  "automation.exited",
  "automation.failed",
  "automation.goal_reached",
] as const;

/** Every type of event, in the stream of a workspace and in developer webhooks. */
export const EVENT_TYPES = [
  ...EMAIL_EVENT_TYPES,
  ...CONTACT_EVENT_TYPES,
  ...LIST_EVENT_TYPES,
  ...SEGMENT_EVENT_TYPES,
  ...SUPPRESSION_EVENT_TYPES,
  ...CAMPAIGN_EVENT_TYPES,
  ...AUTOMATION_EVENT_TYPES,
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
