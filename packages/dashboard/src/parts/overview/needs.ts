import { api } from "../../api/client.ts";
import { may, mayOperate, session } from "../../api/session.ts";
import { count } from "../plural.ts";

/** Something that waits for a person, and the page where it is decided. */
export interface Need {
  readonly tone: "warn" | "bad";
  readonly text: string;
  readonly more: string | null;
  readonly path: string;
}

/** Loads what needs a person: what stands still or fails until somebody decides. */
export async function loadNeeds(signal: AbortSignal): Promise<Need[]> {
  const looks: Promise<Need[]>[] = [listRates(signal)];
  if (may("marketplace:read") && session.peek()?.marketplace) looks.push(listApprovals(signal));
  if (may("campaigns:read")) looks.push(listCampaigns(signal));
  if (may("webhooks:read")) looks.push(listWebhooks(signal));
  if (may("senders:read")) looks.push(listSenders(signal));
  if (mayOperate()) looks.push(listHolds(signal));
  return (await Promise.all(looks)).flat();
}

async function listRates(signal: AbortSignal): Promise<Need[]> {
  const { bounce, complaint } = await api.metrics.limits({ signal });
  const share = (rate: number | null): string => `${Number(((rate ?? 0) * 100).toPrecision(2))} %`;
  return [
    { ...bounce, what: "The bounce rate", window: "in 24 hours" },
    { ...complaint, what: "The spam complaint rate", window: "in 7 days" },
  ].flatMap(({ state, rate, what, window }): Need[] => {
    if (state === "OK") return [];
    const paused = state === "PAUSED";
    const text = paused ? `Campaigns are paused: ${what} is too high` : `${what} is high`;
    return [{ tone: paused ? "bad" : "warn", text, more: `${share(rate)} ${window}`, path: paused ? "/campaigns" : "/activity" }];
  });
}

async function listApprovals(signal: AbortSignal): Promise<Need[]> {
  const { total } = (await api.approvals.list({ limit: 1 }, { signal })).pagination;
  return total === 0 ? [] : [{ tone: "warn", text: `${count(total, "approval")} to answer`, more: null, path: "/approvals" }];
}

async function listCampaigns(signal: AbortSignal): Promise<Need[]> {
  const { data } = await api.campaigns.list({ status: "PAUSED", limit: 5 }, { signal });
  return data.map(({ id, name, statusReason }) => ({
    tone: "warn",
    text: name,
    more: `paused: ${statusReason?.message ?? "somebody paused it"}`,
    path: `/campaigns/${id}`,
  }));
}

async function listWebhooks(signal: AbortSignal): Promise<Need[]> {
  const { data } = await api.webhooks.list({ limit: 100 }, { signal });
  return data.flatMap(({ id, url, description, status, failingSince }): Need[] =>
    status === "disabled" || failingSince !== null
      ? [
          {
            tone: "bad",
            text: description ?? url,
            more: status === "disabled" ? "webhook disabled" : "webhook failing",
            path: `/webhooks/${id}`,
          },
        ]
      : [],
  );
}

async function listSenders(signal: AbortSignal): Promise<Need[]> {
  const { data } = await api.senders.list({ limit: 100 }, { signal });
  return data.flatMap(({ id, value, status, failingSince }): Need[] => {
    if (failingSince !== null) return [{ tone: "bad", text: value, more: "DNS record missing", path: `/senders/${id}` }];
    return status === "PENDING" ? [{ tone: "warn", text: value, more: "not verified yet", path: `/senders/${id}` }] : [];
  });
}

async function listHolds(signal: AbortSignal): Promise<Need[]> {
  const { holds, paused } = await api.queue.status({ signal });
  const stopped: Need[] = paused ? [{ tone: "bad", text: "Sending is paused", more: "on this server", path: "/queue" }] : [];
  return [
    ...stopped,
    ...holds.map(
      ({ domain, emails }): Need => ({
        tone: "warn",
        text: domain,
        more: emails === 0 ? "held" : `held: ${count(emails, "email")} wait`,
        path: "/queue",
      }),
    ),
  ];
}
