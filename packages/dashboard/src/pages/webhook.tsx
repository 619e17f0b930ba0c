/** @jsxImportSource preact */
import type { Webhook, WebhookDelivery, WebhookTest } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { DELIVERY_STATES } from "../constants.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { formatMinimum } from "../parts/plural.ts";
import { useEvents, useList, useResource } from "../parts/resource.ts";
import { SecretOnce } from "../parts/secret-once.tsx";
import { splitList } from "../parts/split-list.ts";
import { WebhookState } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { serverNow, Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { WebhookFields } from "../parts/webhook-fields.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

const FILTERS = ["state", "email"];
const HOUR = 3_600_000;

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { head: "Event", width: "2 1 0", cell: ({ type }) => type },
  { head: "State", width: "0 0 7.5rem", cell: ({ state }) => <Status status={state} /> },
  { head: "Answer", width: "2 1 0", second: true, cell: ({ lastAttempt }) => <span class="soft">{describeAnswer(lastAttempt)}</span> },
  { head: "Attempts", width: "0 0 5rem", wide: true, cell: ({ attempts }) => <span class="soft">{attempts}</span> },
  { head: "Next", width: "0 0 7rem", wide: true, cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? "" : <Time at={nextAttemptAt} />) },
  { head: "Happened", width: "0 0 6.5rem", cell: ({ at }) => <Time at={at} /> },
];

/** One webhook: what was sent to it, and what it answered. */
export default function WebhookPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const filters = readFilters(FILTERS);
  const webhook = useResource((signal) => api.webhooks.get(id, { signal }), [id]);
  const list = useList(
    (cursor, signal) =>
      api.webhooks.deliveries(id, { ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.webhooks.deliveries>[1], {
        signal,
      }),
    [id, JSON.stringify(filters)],
  );
  const reload = (): void => {
    webhook.reload();
    list.refresh();
  };
  useEvents(() => true, reload);
  return (
    <Page
      title={webhook.data?.description ?? webhook.data?.url ?? "Webhook"}
      back={{ href: toHref("/webhooks"), name: "Webhooks" }}
      about={webhook.data === null ? null : <About webhook={webhook.data} />}
      actions={webhook.data !== null && may("webhooks:write") ? <Actions webhook={webhook.data} reload={reload} /> : null}
    >
      <Loaded from={webhook}>{(data) => <Failing webhook={data} />}</Loaded>
      <Filters
        fields={[
          { name: "state", label: "State", options: DELIVERY_STATES },
          { name: "email", label: "Email", example: "Email: em_…", pattern: /^em_\w+$/ },
        ]}
      />
      <DataTable
        label="Deliveries"
        list={list}
        columns={COLUMNS}
        href={(delivery) => toHref(`/webhooks/${id}/${delivery.id}`)}
        empty={
          <Empty title={Object.keys(filters).length > 0 ? "No delivery fits these filters" : "Nothing was sent yet"}>
            <p>It gets what happens from now on. Test it to see what your program answers.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function About({ webhook }: { readonly webhook: Webhook }) {
  const { url, events, description } = webhook;
  return (
    <>
      <WebhookState webhook={webhook} /> {description === null ? null : <span>{url} · </span>}
      {events.join(", ")}
    </>
  );
}

function Failing({ webhook: { failingSince, lastError } }: { readonly webhook: Webhook }) {
  if (failingSince === null || lastError === null) return null;
  return (
    <div class="note bad">
      <strong>
        All attempts have failed since <Time at={failingSince} exactly />
      </strong>
      <p>{lastError.message ?? `${lastError.class.replaceAll("_", " ")} ${lastError.httpStatus ?? ""}`}</p>
    </div>
  );
}

function readWebhook(values: FormValues) {
  const events = splitList(values.text("events"));
  return {
    url: values.text("url"),
    events: events.length > 0 ? events : ["*"],
    description: values.text("description") || null,
    alertEmail: values.text("alertEmail") || null,
  };
}

interface ActionProps {
  readonly webhook: Webhook;
  readonly reload: () => void;
}

function Actions({ webhook, reload }: ActionProps) {
  const { id, status } = webhook;
  const [secret, setSecret] = useState<string | null>(null);
  const turn = (on: boolean) => async (): Promise<void> => {
    await (on ? api.webhooks.resume(id) : api.webhooks.pause(id));
    reload();
  };
  const change = async (values: FormValues): Promise<void> => {
    await api.webhooks.update(id, values.changes(readWebhook));
    reload();
  };
  const rotate = async (values: FormValues): Promise<void> => {
    setSecret((await api.webhooks.rotateSecret(id, { overlapHours: Number(values.text("hours")) })).secret);
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.webhooks.delete(id);
    go("/webhooks");
  };
  return (
    <>
      <TestButton id={id} />
      <Replay id={id} reload={reload} />
      <ActionButton label={status === "enabled" ? "Pause" : "Resume"} act={turn(status !== "enabled")} />
      <FormButton label="Change" title="Change the webhook" submit="Save" act={change}>
        <WebhookFields webhook={webhook} />
      </FormButton>
      <FormButton label="Rotate the secret" title="Make another secret" act={rotate}>
        <Field label="Hours that both sign" hint="Long enough to roll the new one out; 0 to switch at once.">
          <input name="hours" type="number" min={0} max={168} defaultValue={24} required />
        </Field>
      </FormButton>
      <ConfirmButton label="Delete" question="Delete this webhook?" danger act={remove}>
        <p>What waits for it is not sent.</p>
      </ConfirmButton>
      {secret === null ? null : <SecretOnce what="The new secret" secret={secret} done={() => setSecret(null)} />}
    </>
  );
}

function TestButton({ id }: { readonly id: string }) {
  const [result, setResult] = useState<WebhookTest | null>(null);
  const test = async (): Promise<void> => {
    const answer = await api.webhooks.test(id);
    setResult(answer);
    toast(answer.ok ? `It answered ${answer.httpStatus} in ${Math.round(answer.ms)} ms` : (answer.message ?? answer.hint), {
      bad: !answer.ok,
    });
  };
  return (
    <>
      <ActionButton label="Test" act={test} />
      {result === null ? null : (
        <span class="soft" role="status">
          {result.ok ? `Answered ${result.httpStatus}` : result.class.replaceAll("_", " ")}, {Math.round(result.ms)} ms
        </span>
      )}
    </>
  );
}

function Replay({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const act = async (values: FormValues): Promise<void> => {
    const since = new Date(serverNow() - Number(values.text("hours")) * HOUR).toISOString();
    const { count, countIsMinimum } = await api.webhooks.redeliverSince(id, { since, all: values.has("all") });
    toast(`${formatMinimum(count, countIsMinimum === true)} events are sent again`);
    reload();
  };
  return (
    <FormButton label="Replay" title="Send events again" submit="Send" act={act}>
      <Field label="Of the last hours">
        <input name="hours" type="number" min={1} max={720} defaultValue={24} required />
      </Field>
      <label class="check">
        <input type="checkbox" name="all" /> Also those that have arrived
      </label>
    </FormButton>
  );
}

function describeAnswer(attempt: WebhookDelivery["lastAttempt"]): string {
  if (attempt === null) return "";
  if (attempt.class === "ok") return `${attempt.httpStatus ?? "ok"} in ${Math.round(attempt.ms)} ms`;
  return attempt.message ?? `${attempt.class.replaceAll("_", " ")} ${attempt.httpStatus ?? ""}`;
}
