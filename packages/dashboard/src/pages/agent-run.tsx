/** @jsxImportSource preact */
import type { Run } from "@mailsvc/sdk/contract";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useRegularly, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** One run of an agent: how far it is, its log, how long it may be silent, and what it costs. */
export default function AgentRun({ params }: PageProps) {
  const { id = "", run: runId = "" } = params;
  const run = useResource((signal) => api.runs.get(id, runId, { signal }), [id, runId]);
  const logs = useResource((signal) => api.runs.logs(id, runId, { limit: 100 }, { signal }), [id, runId]);
  const reload = (): void => {
    run.reload();
    logs.reload();
  };
  useRegularly(reload);
  const { data } = run;
  return (
    <Page
      title={data?.title ?? "Run"}
      back={{ href: toHref(`/agents/${id}`), name: "Agent" }}
      about={data && <Status status={data.status} />}
      actions={data && data.finishedAt === null && may("marketplace:write") ? <Cancel id={id} runId={runId} done={reload} /> : null}
    >
      <Loaded from={run}>
        {(shown) => (
          <div class="columns" role="region" aria-label="Run" tabIndex={0}>
            <div class="column">
              <Progress run={shown} />
              <section class="card">
                <h2>Log</h2>
                <Loaded from={logs}>{(page) => <Log page={page} />}</Loaded>
              </section>
              {shown.output === null || shown.output === undefined ? null : (
                <section class="card">
                  <h2>Output</h2>
                  <CodeBlock label="The output as JSON" code={JSON.stringify(shown.output, null, 2)} />
                </section>
              )}
            </div>
            <aside class="column" aria-label="Details">
              <section class="card">
                <h2>Details</h2>
                <Facts facts={listFacts(shown)} />
              </section>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Cancel({ id, runId, done }: { readonly id: string; readonly runId: string; readonly done: () => void }) {
  const act = (force: boolean) => async (): Promise<void> => {
    await api.runs.cancel(id, runId, { force });
    toast(force ? "Cancelled" : "The agent is asked to stop");
    done();
  };
  return (
    <>
      <ConfirmButton label="Ask it to stop" question="Ask the agent to stop this run?" act={act(false)}>
        <p>It reads this with its next log and ends the run itself.</p>
      </ConfirmButton>
      <ConfirmButton label="Cancel at once" question="Cancel this run at once?" danger act={act(true)}>
        <p>Later calls of the agent for it are refused. What it did until now stays.</p>
      </ConfirmButton>
    </>
  );
}

function Progress({ run }: { readonly run: Run }) {
  const { status, progress, deadlineAt, waitingFor, error, failureReason, summary, cancelRequested } = run;
  const title =
    status === "FAILED"
      ? failureReason === "heartbeat_timeout"
        ? "Failed: it was silent for 15 minutes"
        : "Failed: its agent reported an error"
      : status === "WAITING"
        ? `Waiting for ${waitingFor === "approval" ? "your approval" : "a wakeup"}`
        : (progress?.label ?? { RUNNING: "Working", COMPLETED: "Done", CANCELLED: "Cancelled" }[status]);
  return (
    <section class={`card summary ${toneOf(status)}`}>
      <h2>{title}</h2>
      {progress === null ? null : (
        <div class="progress">
          <progress max={100} value={progress.percent} aria-label="Progress" />
          <span class="number">{Math.round(progress.percent)} %</span>
        </div>
      )}
      {error === null ? null : <pre class="reply">{`${error.code}: ${error.message}`}</pre>}
      {summary === null ? null : <p class="said">{summary}</p>}
      {cancelRequested && run.finishedAt === null ? <p class="soft">You asked the agent to stop.</p> : null}
      {deadlineAt === null || run.finishedAt !== null ? null : (
        <p class="soft">
          Last heartbeat <Time at={run.lastHeartbeatAt} />. {status === "RUNNING" ? "The run fails without another" : "The wait ends"}{" "}
          <Time at={deadlineAt} />
          {status === "RUNNING" ? ", after 15 minutes" : " at the latest"}.
        </p>
      )}
    </section>
  );
}

type LogPage = Awaited<ReturnType<typeof api.runs.logs>>;

function Log({ page: { data, pagination } }: { readonly page: LogPage }) {
  if (data.length === 0) return <Empty title="Nothing logged yet" />;
  return (
    <>
      <ol class="log">
        {data.map(({ level, message, data: more, at }, i) => (
          <li key={pagination.total - i} class={level}>
            <Time at={at} exactly />
            <span class="level">{level}</span>
            <span>
              {message}
              {more === null || more === undefined ? null : <code class="soft"> {JSON.stringify(more)}</code>}
            </span>
          </li>
        ))}
      </ol>
      {pagination.total > data.length ? <p class="soft">{`The latest ${data.length} of ${pagination.total}.`}</p> : null}
    </>
  );
}

function listFacts(run: Run): (readonly [string, preact.ComponentChildren])[] {
  const metrics = Object.entries(run.metrics ?? {});
  return [
    ["Credits", formatCount(run.creditsConsumed)],
    ["Started", <Time key="started" at={run.startedAt} exactly />],
    ["Ended", run.finishedAt && <Time key="ended" at={run.finishedAt} exactly />],
    ["Caused by", run.trigger && [run.trigger.type, run.trigger.ref].filter(Boolean).join(" · ")],
    ["Part of", run.parentRunId && <ObjectLink key="parent" id={run.parentRunId} of={run.activationId} />],
    ...metrics.map(([name, value]) => [name, formatCount(value)] as const),
    ["Agent", <ObjectLink key="agent" id={run.activationId} />],
    ["Run", <code key="id">{run.runId}</code>],
  ];
}
