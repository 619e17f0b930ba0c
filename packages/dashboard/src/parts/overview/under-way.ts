import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { count } from "../plural.ts";

/** A campaign or an automation at work. */
export interface UnderWay {
  readonly name: string;
  readonly what: string;
  readonly path: string;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
// Of each kind; the pages of the navigation have all.
const SHOWN = 5;

/** Loads what is being sent, is scheduled or runs. */
export async function loadUnderWay(signal: AbortSignal): Promise<UnderWay[]> {
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
