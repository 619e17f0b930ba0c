/** @jsxImportSource preact */
import type { CampaignDetail, CampaignStats, SkipReason } from "@mailsvc/sdk/contract";
import { EMAIL_STATUSES } from "@mailsvc/sdk/contract/facts";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import type { ComponentChildren } from "preact";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { LOCALE } from "../../browser.ts";
import { toHref } from "../../router.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { Empty } from "../empty.tsx";
import { LinePlot } from "../line-plot.tsx";
import { Loaded } from "../loaded.tsx";
import { formatCount, count as plural } from "../plural.ts";
import { useResource } from "../resource.ts";
import { formatShare } from "../share.ts";
import { Subject } from "../subject.tsx";
import { Timeline } from "../timeline.tsx";
import { toast } from "../toast.tsx";
import { fillSeries } from "./series.ts";
import { describeWait } from "./settings.tsx";
import { SKIP_REASONS } from "./skip-reasons.ts";

interface Props {
  readonly campaign: CampaignDetail;
  readonly stats: CampaignStats;
  readonly interval: "hour" | "day";
  readonly setScale: (interval: "hour" | "day") => void;
  /** Called after the winner of an A/B test was decided. */
  readonly decided: () => void;
}

/** Results of a campaign: the API's numbers, over time, by link and by variant. */
export function CampaignReport({ campaign, stats, interval, setScale, decided }: Props) {
  return (
    <div class="campaign-report">
      <Figures campaign={campaign} stats={stats} />
      <OverTime stats={stats} interval={interval} setScale={setScale} />
      {stats.variants.length === 0 ? null : <Variants campaign={campaign} stats={stats} decided={decided} />}
      <Recipients stats={stats} id={campaign.id} />
      <Links campaign={campaign} stats={stats} />
      {stats.revenue.length === 0 ? null : <Revenue stats={stats} />}
      <History id={campaign.id} status={campaign.status} />
    </div>
  );
}

/** The figures that everybody looks at first. A rate says what it is a share of. */
function Figures({ campaign: { trackOpens, trackClicks }, stats }: { readonly campaign: CampaignDetail; readonly stats: CampaignStats }) {
  const { rates, opens, clicks, unsubscribes, recipients } = stats;
  const figure = (name: string, value: ComponentChildren, more: string, tone = "") => (
    <div class={tone}>
      <dt>{name}</dt>
      <dd>
        {value} <span>{more}</span>
      </dd>
    </div>
  );
  const of = (rate: number | null, total: number): string => (rate === null ? "" : `${formatShare(rate)} of ${formatCount(total)}`);
  return (
    <dl class="figures">
      {figure("Accepted", formatCount(rates.delivery.count), of(rates.delivery.rate, rates.delivery.total))}
      {trackOpens
        ? figure("Opened", formatCount(opens.unique), of(rates.open.rate, rates.open.total))
        : figure("Opened", "–", "not counted")}
      {trackClicks
        ? figure("Clicked", formatCount(clicks.unique), of(rates.click.rate, rates.click.total))
        : figure("Clicked", "–", "not counted")}
      {figure("Unsubscribed", formatCount(unsubscribes), of(rates.unsubscribe.rate, rates.unsubscribe.total))}
      {figure("Bounced", formatCount(recipients.bounced), of(rates.bounce.rate, rates.bounce.total), recipients.bounced > 0 ? "bad" : "")}
      {figure(
        "Complained",
        formatCount(recipients.complained),
        of(rates.complaint.rate, rates.complaint.total),
        recipients.complained > 0 ? "bad" : "",
      )}
    </dl>
  );
}

const FORMATS = {
  hour: new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }),
  day: new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" }),
};

function OverTime({ stats, interval, setScale }: Pick<Props, "stats" | "interval" | "setScale">) {
  const points = fillSeries(stats.series, interval);
  const times = points.map(({ at }) => FORMATS[interval].format(Date.parse(at)));
  const line = (name: string, tone: string, read: (point: CampaignStats["series"][number]) => number) => ({
    name,
    tone,
    values: points.map(read),
    sum: true,
  });
  return (
    <section class="card wide" aria-labelledby="over-time">
      <div class="what">
        <h2 id="over-time">Over time</h2>
        <fieldset class="toggles">
          <legend class="hidden">Length of a point</legend>
          {(["hour", "day"] as const).map((one) => (
            <button key={one} type="button" aria-pressed={one === interval} onClick={() => setScale(one)}>
              By {one}
            </button>
          ))}
        </fieldset>
      </div>
      {points.length === 0 ? (
        <p class="soft">No mail has been sent yet.</p>
      ) : (
        <LinePlot
          label={`Mails sent, opened and clicked, by ${interval}`}
          times={times}
          lines={[
            line("Sent", "plain", ({ sent }) => sent),
            line("Opened", "busy", ({ uniqueOpens }) => uniqueOpens),
            line("Clicked", "good", ({ uniqueClicks }) => uniqueClicks),
            line("Bounced", "bad", ({ bounced }) => bounced),
          ]}
        />
      )}
    </section>
  );
}

/** All recipients by state; they add up to the total. */
function Recipients({ stats: { recipients, skipped, audience }, id }: { readonly stats: CampaignStats; readonly id: string }) {
  const states = EMAIL_STATUSES.filter((state) => recipients[state] > 0);
  return (
    <section class="card" aria-labelledby="recipients">
      <h2 id="recipients">Recipients</h2>
      {recipients.total === 0 ? (
        <p class="soft">{audience === 0 ? "Nobody was in the audience." : "They are being written."}</p>
      ) : (
        <>
          <div class="share-bar" aria-hidden="true">
            {states.map((state) => (
              <span key={state} class={toneOf(state)} style={{ flexGrow: recipients[state] }} />
            ))}
          </div>
          <table class="numbers">
            <tbody>
              {states.flatMap((state) => [
                <tr key={state}>
                  <th scope="row">
                    <span class={`dot ${toneOf(state)}`} aria-hidden="true" />
                    <a href={toHref(`/campaigns/${id}?tab=recipients&status=${state}`)}>{state}</a>
                  </th>
                  <td>{formatCount(recipients[state])}</td>
                  <td class="soft">{formatShare(recipients[state] / recipients.total)}</td>
                </tr>,
                ...(state === "skipped" ? listReasons(skipped) : []),
              ])}
              <tr class="total">
                <th scope="row">Total</th>
                <td>{formatCount(recipients.total)}</td>
                <td />
              </tr>
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function listReasons(skipped: CampaignStats["skipped"]) {
  return (Object.entries(skipped) as [SkipReason, number][])
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => (
      <tr key={reason} class="reason soft">
        <th scope="row">{SKIP_REASONS[reason]}</th>
        <td>{formatCount(count)}</td>
        <td />
      </tr>
    ));
}

function Links({
  campaign: { trackClicks },
  stats: { links, clicks, opens },
}: {
  readonly campaign: CampaignDetail;
  readonly stats: CampaignStats;
}) {
  const machines = clicks.machine + opens.machine;
  return (
    <section class="card" aria-labelledby="links">
      <h2 id="links">Links</h2>
      {links.length === 0 ? (
        <p class="soft">{trackClicks ? "No clicks yet." : "This campaign counts no clicks."}</p>
      ) : (
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">Link</th>
              <th scope="col">People</th>
              <th scope="col">Clicks</th>
            </tr>
          </thead>
          <tbody>
            {links.map(({ url, clicks: all, uniqueClicks }) => (
              <tr key={url}>
                <th scope="row" class="url">
                  {url}
                </th>
                <td>{formatCount(uniqueClicks)}</td>
                <td class="soft">{formatCount(all)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {machines === 0 ? null : (
        <p class="soft after">
          Without {plural(opens.machine, "open")} and {plural(clicks.machine, "click")} by programs, such as link scanners.
        </p>
      )}
    </section>
  );
}

/** The variants of an A/B test, and the decision where it is the person's. */
function Variants({ campaign, stats: { variants }, decided }: Pick<Props, "campaign" | "stats" | "decided">) {
  const { id, abTest, winner, status } = campaign;
  const open = abTest !== null && abTest.samplePercent < 100 && winner === null && (status === "SENDING" || status === "PAUSED");
  const decide = (name: (typeof variants)[number]["name"]) => async (): Promise<void> => {
    await api.campaigns.winner(id, { variant: name });
    toast(`${name} wins`);
    decided();
  };
  return (
    <section class="card wide" aria-labelledby="variants">
      <h2 id="variants">A/B test</h2>
      <p class="soft">{describeDecision(campaign)}</p>
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">Subject</th>
            <th scope="col">Got it</th>
            <th scope="col">Opened</th>
            <th scope="col">Clicked</th>
            {open && may("campaigns:write") ? <th scope="col">Decide</th> : null}
          </tr>
        </thead>
        <tbody>
          {variants.map(({ name, subjectLine, winner: wins, rates, recipients }) => (
            <tr key={name}>
              <th scope="row">
                <strong>{name}</strong> <Subject text={subjectLine} /> {wins ? <span class="status good">winner</span> : null}
              </th>
              <td>{formatCount(recipients.sent + recipients.delivered + recipients.complained)}</td>
              <td>{formatShare(rates.open.rate)}</td>
              <td>{formatShare(rates.click.rate)}</td>
              {open && may("campaigns:write") ? (
                <td>
                  <ConfirmButton label={`${name} wins`} question={`Send ${name} to the others?`} act={decide(name)}>
                    <p>
                      Everybody outside the sample gets “<Subject text={subjectLine} />
                      ”. This cannot be changed.
                    </p>
                  </ConfirmButton>
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function describeDecision({ abTest, winner }: CampaignDetail): string {
  if (abTest === null) return "";
  const { samplePercent, winner: by, decideAfterMinutes } = abTest;
  if (samplePercent === 100) return "Everybody gets one of the variants; there is no winner.";
  if (winner !== null) return `${winner} won on a sample of ${formatShare(samplePercent / 100)}; all others get it.`;
  if (by === "manual") return `A sample of ${formatShare(samplePercent / 100)} gets them. The others wait for your decision.`;
  return `A sample of ${formatShare(samplePercent / 100)} gets them. The one with the most ${by} wins after ${describeWait(decideAfterMinutes)}.`;
}

function Revenue({ stats: { revenue } }: { readonly stats: CampaignStats }) {
  return (
    <section class="card" aria-labelledby="revenue">
      <h2 id="revenue">Revenue</h2>
      <table class="numbers">
        <tbody>
          {revenue.map(({ currency, amount, events }) => (
            <tr key={currency}>
              <th scope="row">{plural(events, "event")}</th>
              <td>{new Intl.NumberFormat(LOCALE, { style: "currency", currency }).format(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** History of the campaign itself. */
function History({ id, status }: { readonly id: string; readonly status: string }) {
  const explanation = useResource((signal) => api.explanations.get(id, {}, { signal }), [id, status]);
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Loaded from={explanation}>
        {({ timeline }) =>
          timeline.length === 0 ? (
            <Empty title="Nothing yet" />
          ) : (
            <Timeline items={timeline.map(({ at, what, why }) => ({ at, what, why, tone: "plain" }))} />
          )
        }
      </Loaded>
    </section>
  );
}
