/** @jsxImportSource preact */

import type { Event, LandingPageStats, LandingPageSubmission, Page } from "@mailsvc/sdk/contract";
import { LOCALE } from "../../browser.ts";
import { LinePlot } from "../line-plot.tsx";
import { ListStates } from "../list-states.tsx";
import { Loaded } from "../loaded.tsx";
import { ObjectLink } from "../object-link.tsx";
import { formatCount } from "../plural.ts";
import { NUMBERS_MS, useEvents, useList, useResource } from "../resource.ts";
import { formatShare } from "../share.ts";
import { Time } from "../time.tsx";

const DAY = new Intl.DateTimeFormat(LOCALE, { month: "short", day: "numeric", timeZone: "UTC" });

// A person signs up as a new contact, or joins the list.
const isSignUp = ({ type }: Event): boolean => type === "contact.created" || type === "list.joined";

interface NumbersProps {
  readonly id: string;
  readonly load: (signal: AbortSignal) => Promise<LandingPageStats>;
}

/** Visitors and sign-ups of a page in the last 30 days. */
export function PageNumbers({ id, load }: NumbersProps) {
  const stats = useResource(load, [id]);
  useEvents(isSignUp, stats.reload, NUMBERS_MS);
  return (
    <section class="card">
      <h2>The last 30 days</h2>
      <Loaded from={stats}>
        {({ views, uniqueVisitors, submissions, conversionRate, byDay, topReferrers }) => (
          <div class="stack">
            <dl class="figures">
              {[
                ["Views", formatCount(views)],
                ["Visitors", formatCount(uniqueVisitors)],
                ["Sign-ups", formatCount(submissions)],
                ["Of visitors", formatShare(uniqueVisitors === 0 ? null : conversionRate)],
              ].map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            {views + submissions === 0 ? null : (
              <LinePlot
                label="Visitors and sign-ups, by day"
                times={byDay.map(({ date }) => DAY.format(Date.parse(date)))}
                lines={[
                  { name: "Visitors", tone: "accent", sum: true, values: byDay.map((day) => day.uniqueVisitors) },
                  { name: "Sign-ups", tone: "good", sum: true, values: byDay.map((day) => day.submissions) },
                ]}
              />
            )}
            {topReferrers.length === 0 ? null : (
              <p class="soft">Visitors came from {topReferrers.map(({ host, views }) => `${host} (${formatCount(views)})`).join(", ")}.</p>
            )}
            <p class="soft">Days in UTC. A visitor counts once a day.</p>
          </div>
        )}
      </Loaded>
    </section>
  );
}

interface SignUpsProps {
  readonly id: string;
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<LandingPageSubmission>>;
}

/** Sign-ups on a page, newest first, with the consent that each person gave. */
export function SignUps({ id, load }: SignUpsProps) {
  const list = useList(load, [id]);
  useEvents(isSignUp, list.refresh, NUMBERS_MS);
  return (
    <section class="card">
      <h2>Newest sign-ups</h2>
      <ListStates list={list} empty={<p class="soft">No sign-ups yet.</p>}>
        <ul class="items">
          {list.items.map(({ id: at, contactId, consentText, createdAt }) => (
            <li key={at}>
              <div class="what">
                {contactId === null ? <span class="soft">Deleted contact</span> : <ObjectLink id={contactId} />}
                <Time at={createdAt} />
              </div>
              <p class="soft">{consentText}</p>
            </li>
          ))}
        </ul>
      </ListStates>
    </section>
  );
}
