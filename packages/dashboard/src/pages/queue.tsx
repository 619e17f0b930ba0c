/** @jsxImportSource preact */
import type { Job, QueueHold, QueueStatus } from "@mailsvc/sdk/contract";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { LOCALE } from "../browser.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { LinePlot } from "../parts/line-plot.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Live, type Resource, useList, useRegularly, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";

const SAMPLE_MS = 5000;
// Ten minutes.
const SAMPLES = 120;
const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A look at the queue: when, what waited, and what happened to emails since the one before. */
interface Sample {
  readonly time: string;
  readonly ready: number;
  readonly running: number;
  readonly delivered: number;
  readonly failed: number;
}

/** Page of the server's queue, which also shows if mail leaves it. */
export default function Queue() {
  const [tab, setTab] = useState("now");
  const queue = useResource((signal) => api.queue.status({ signal }), []);
  const samples = useSamples(queue);
  const holds = queue.data?.holds.length ?? 0;
  return (
    <Page
      title="Queue"
      about="What is waiting on this server, across all workspaces, and whether mail is leaving it."
      actions={queue.data === null ? null : <Actions status={queue.data} done={queue.reload} />}
    >
      <Loaded from={queue}>
        {(status) => (
          <Tabs
            label="The queue"
            tabs={[
              { name: "now", label: "Now" },
              { name: "holds", label: "Holds", count: holds },
              ...(may("jobs:read") ? [{ name: "jobs", label: "Jobs" }] : []),
            ]}
            chosen={tab}
            choose={setTab}
          >
            {tab === "now" ? <Now status={status} samples={samples} /> : null}
            {tab === "holds" ? <Holds holds={status.holds} done={queue.reload} /> : null}
            {tab === "jobs" ? <Jobs /> : null}
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

/** Asks again every five seconds, and counts what happens to the emails of this workspace meanwhile. */
function useSamples({ data, reload }: Resource<QueueStatus>): readonly Sample[] {
  const live = useContext(Live);
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const counts = useRef({ delivered: 0, failed: 0 });
  useEffect(
    () =>
      live?.listen(({ type }) => {
        if (type === "email.sent") counts.current.delivered += 1;
        if (type === "email.bounced" || type === "email.failed" || type === "email.complained") counts.current.failed += 1;
      }),
    [live],
  );
  useRegularly(reload, SAMPLE_MS);
  useEffect(() => {
    if (data === null) return;
    const { ready, running } = data.jobs;
    const sample = { time: CLOCK.format(), ready, running, ...counts.current };
    counts.current = { delivered: 0, failed: 0 };
    setSamples((before) => [...before.slice(1 - SAMPLES), sample]);
  }, [data]);
  return samples;
}

function Actions({ status: { paused }, done }: { readonly status: QueueStatus; readonly done: () => void }) {
  const act = (change: () => Promise<unknown>, said: string) => async (): Promise<void> => {
    await change();
    toast(said);
    done();
  };
  return (
    <>
      <ConfirmButton
        label="Try deferred mail now"
        question="Try all deferred mail now?"
        act={act(() => api.queue.requeue({}), "Deferred mail is tried again")}
      >
        <p>This counts as one of each email's attempts.</p>
      </ConfirmButton>
      {paused ? (
        <ActionButton label="Resume sending" primary act={act(() => api.queue.resume(), "Mail is sent again")} />
      ) : (
        <FormButton
          label="Pause sending"
          title="Pause all sending"
          act={(values) => act(() => api.queue.pause(values.filled("reason")), "No mail is sent")()}
        >
          <p>No mail of any workspace leaves until you resume. Emails are still accepted, and wait.</p>
          <Field label="Why" hint="Shown to everyone who sees that sending is paused.">
            <input name="reason" maxLength={500} />
          </Field>
        </FormButton>
      )}
    </>
  );
}

function Now({ status, samples }: { readonly status: QueueStatus; readonly samples: readonly Sample[] }) {
  const { paused, pausedAt, reason, jobs, unhandledKinds, oldestDueAt } = status;
  const times = samples.map(({ time }) => time);
  const line = (name: string, tone: string, read: (sample: Sample) => number) => ({ name, tone, values: samples.map(read) });
  return (
    <div class="stack">
      {paused ? (
        <div class="note bad">
          <strong>
            Sending is paused{pausedAt === null ? "" : " since "}
            {pausedAt === null ? null : <Time at={pausedAt} exactly />}
          </strong>
          {reason === null ? null : <p>{reason}</p>}
        </div>
      ) : null}
      <dl class="figures">
        <Figure name="Waiting" value={jobs.ready} />
        <Figure name="Running" value={jobs.running} />
        <Figure name="Given up" value={jobs.dead} bad={jobs.dead > 0} />
        <Figure name="For another version" value={jobs.unhandled} bad={jobs.unhandled > 0} />
        <Figure name="Oldest due" value={oldestDueAt === null ? "–" : <Time at={oldestDueAt} />} />
      </dl>
      {Object.entries(unhandledKinds).map(([kind, count]) => (
        <p key={kind} class="soft">
          {count} × <code>{kind}</code>
        </p>
      ))}
      <section class="card">
        <h2>Jobs</h2>
        <LinePlot
          label="Jobs that wait and run, over the last ten minutes"
          times={times}
          lines={[line("Waiting", "busy", ({ ready }) => ready), line("Running", "good", ({ running }) => running)]}
        />
      </section>
      <section class="card">
        <h2>Emails of this workspace, each five seconds</h2>
        <LinePlot
          label="Emails handed over and refused, over the last ten minutes"
          times={times}
          lines={[line("Handed over", "good", ({ delivered }) => delivered), line("Refused", "bad", ({ failed }) => failed)]}
        />
      </section>
    </div>
  );
}

function Figure({ name, value, bad = false }: { readonly name: string; readonly value: preact.ComponentChildren; readonly bad?: boolean }) {
  return (
    <div class={bad ? "bad" : ""}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Holds({ holds, done }: { readonly holds: readonly QueueHold[]; readonly done: () => void }) {
  const hold = async (values: FormValues): Promise<void> => {
    await api.queue.hold({ domain: values.text("domain"), ...values.filled("reason") });
    done();
  };
  const release = (domain: string) => async (): Promise<void> => {
    await api.queue.release({ domain });
    toast(`Mail to ${domain} is sent again`);
    done();
  };
  return (
    <div class="stack">
      <div class="buttons">
        <FormButton label="Hold a domain" title="Hold all mail to a domain" submit="Hold" act={hold}>
          <Field label="Domain">
            <input name="domain" required placeholder="example.com" spellcheck={false} />
          </Field>
          <Field label="Why">
            <input name="reason" maxLength={500} />
          </Field>
        </FormButton>
      </div>
      {holds.length === 0 ? (
        <Empty title="No domain is held">
          <p>Hold one while it blocks you: its mail waits, and other mail goes on.</p>
        </Empty>
      ) : (
        <ul class="items card">
          {holds.map(({ domain, heldAt, reason, emails }) => (
            <li key={domain}>
              <div class="what">
                <strong>{domain}</strong>
                <ActionButton label="Release" act={release(domain)} />
              </div>
              <p class="soft">
                Since <Time at={heldAt} exactly />, {emails === 1 ? "1 email waits" : `${emails} emails wait`}
                {reason === null ? "" : ` · ${reason}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Jobs() {
  const list = useList((cursor, signal) => api.jobs.list({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  const retry =
    ({ id }: Job) =>
    async (): Promise<void> => {
      await api.jobs.retry(id);
      toast("It is tried again");
      list.refresh();
    };
  const columns: readonly Column<Job>[] = [
    { head: "Job", width: "2 1 0", cell: ({ kind }) => kind },
    { head: "State", width: "0 0 6.5rem", cell: ({ state }) => <Status status={state} /> },
    { head: "Last error", width: "3 1 0", second: true, cell: ({ lastError }) => <span class="soft">{lastError}</span> },
    {
      head: "Attempts",
      width: "0 0 5rem",
      wide: true,
      cell: ({ attempts, maxAttempts }) => <span class="soft">{`${attempts} of ${maxAttempts}`}</span>,
    },
    { head: "Due", width: "0 0 7rem", wide: true, cell: ({ runAt }) => <Time at={runAt} /> },
    {
      head: "Action",
      width: "0 0 5rem",
      cell: (job) => (job.state === "dead" && may("jobs:write") ? <ActionButton label="Retry" act={retry(job)} /> : null),
    },
  ];
  return (
    <DataTable
      label="Jobs"
      list={list}
      columns={columns}
      empty={
        <Empty title="No background jobs">
          <p>Mail has a queue of its own, which the numbers above count.</p>
        </Empty>
      }
    />
  );
}
