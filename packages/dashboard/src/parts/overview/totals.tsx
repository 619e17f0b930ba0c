/** @jsxImportSource preact */

import type { MetricsReport, MetricsRow } from "@mailsvc/sdk/contract";
import { LOCALE } from "../../browser.ts";
import { LinePlot } from "../line-plot.tsx";
import { formatCount } from "../plural.ts";
import { formatShare } from "../share.ts";

interface Props {
  readonly report: MetricsReport;
}

/** The totals of the period, and how they came about day by day. */
export function Totals({ report: { total, data, zone } }: Props) {
  const { rates } = total;
  const figure = (name: string, value: number, rate: number | null, tone = "") => (
    <div class={tone}>
      <dt>{name}</dt>
      <dd>
        {formatCount(value)} <span>{rate === null ? "" : formatShare(rate)}</span>
      </dd>
    </div>
  );
  const format = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: zone });
  const times = data.map(({ from }) => format.format(Date.parse(from)));
  const line = (name: string, tone: string, read: (row: MetricsRow) => number) => ({ name, tone, values: data.map(read), sum: true });
  return (
    <section class="card wide" aria-labelledby="totals">
      <h2 id="totals">Mail</h2>
      <dl class="figures">
        {figure("Accepted", total.accepted, null)}
        {figure("Delivered", total.delivered, null)}
        {figure("Opened", total.opened, rates.open)}
        {figure("Clicked", total.clicked, rates.click)}
        {figure("Bounced", total.bounced, rates.bounce, total.bounced > 0 ? "bad" : "")}
        {figure("Complained", total.complained, rates.complaint, total.complained > 0 ? "bad" : "")}
      </dl>
      <LinePlot
        label="Mail accepted, delivered, opened and clicked, by day"
        times={times}
        lines={[
          line("Accepted", "plain", ({ accepted }) => accepted),
          line("Delivered", "accent", ({ delivered }) => delivered),
          line("Opened", "warn", ({ opened }) => opened),
          line("Clicked", "good", ({ clicked }) => clicked),
        ]}
      />
      {total.bounced + total.complained === 0 ? null : (
        <LinePlot
          label="Mail bounced and reported as spam, by day"
          times={times}
          lines={[line("Bounced", "warn", ({ bounced }) => bounced), line("Complained", "bad", ({ complained }) => complained)]}
        />
      )}
    </section>
  );
}

/** The numbers by who takes the mail, with a bar for the share of each. */
export function Receivers({ report: { data } }: Props) {
  const most = Math.max(1, ...data.map(({ accepted }) => accepted));
  return (
    <section class="card wide" aria-labelledby="receivers">
      <h2 id="receivers">By receiving domain</h2>
      {data.length === 0 ? <p class="soft">No mail in this period.</p> : null}
      {data.length === 0 ? null : (
        <div class="scrolls" role="region" aria-label="Numbers by receiving domain" tabIndex={0}>
          <table class="numbers receivers">
            <thead>
              <tr>
                <th scope="col">Domain</th>
                {["Accepted", "Delivered", "Bounced", "Complained", "Opened", "Clicked"].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((row) => (
                <tr key={row.value}>
                  <th scope="row">
                    {nameOf(row.value)}
                    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                      <rect width={(row.accepted / most) * 100} height={4} rx={1} />
                    </svg>
                  </th>
                  <td>{formatCount(row.accepted)}</td>
                  <td>{formatCount(row.delivered)}</td>
                  <td>{withRate(row.bounced, row.rates.bounce)}</td>
                  <td>{withRate(row.complained, row.rates.complaint)}</td>
                  <td>{withRate(row.opened, row.rates.open)}</td>
                  <td>{withRate(row.clicked, row.rates.click)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const GROUPS: Readonly<Record<string, string>> = { gmail: "Gmail", microsoft: "Microsoft", yahoo: "Yahoo" };

function nameOf(value: string | null): string {
  return value === null ? "All others" : (GROUPS[value] ?? value);
}

function withRate(n: number, rate: number | null): string {
  return n === 0 || rate === null ? formatCount(n) : `${formatCount(n)} (${formatShare(rate)})`;
}
