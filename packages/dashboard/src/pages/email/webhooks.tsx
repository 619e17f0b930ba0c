/** @jsxImportSource preact */
import type { Webhook, WebhookDelivery } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { readAll } from "../../parts/page-reader.ts";
import { useEvents, useResource } from "../../parts/resource.ts";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { toHref } from "../../router.tsx";

interface Sent {
  readonly webhook: Webhook;
  readonly delivery: WebhookDelivery;
}

/** Webhook deliveries about an email, with the answers. */
export function EmailWebhooks({ id }: { readonly id: string }) {
  const sent = useResource((signal) => loadSent(id, signal), [id]);
  useEvents(({ emailId }) => emailId === id, sent.reload);
  return <Loaded from={sent}>{(all) => (all.length === 0 ? <NothingSent /> : <SentList all={all} />)}</Loaded>;
}

async function loadSent(email: string, signal: AbortSignal): Promise<Sent[]> {
  const webhooks = await readAll<Webhook>((page) => api.webhooks.list(page, { signal }));
  const lists = await Promise.all(
    webhooks.map(async (webhook) => {
      const { data } = await api.webhooks.deliveries(webhook.id, { email, limit: 100 }, { signal });
      return data.map((delivery) => ({ webhook, delivery }));
    }),
  );
  return lists.flat().sort((a, b) => (a.delivery.at < b.delivery.at ? -1 : 1));
}

function SentList({ all }: { readonly all: readonly Sent[] }) {
  return (
    <ul class="items">
      {all.map(({ webhook, delivery: { id, type, at, state, attempts, nextAttemptAt, lastAttempt } }) => (
        <li key={id}>
          <div class="what">
            <a href={toHref(`/webhooks/${webhook.id}/${id}`)}>{type}</a>
            <Status status={state} />
          </div>
          <p class="soft">
            {webhook.description ?? webhook.url} · <Time at={at} exactly /> · {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
            {lastAttempt?.httpStatus ? ` · answered ${lastAttempt.httpStatus}` : ""}
            {nextAttemptAt === null ? null : (
              <>
                {" · next "}
                <Time at={nextAttemptAt} />
              </>
            )}
          </p>
          {lastAttempt !== null && lastAttempt.class !== "ok" ? <pre class="reply">{lastAttempt.message ?? lastAttempt.hint}</pre> : null}
          {lastAttempt?.answer ? <pre class="answer">{lastAttempt.answer}</pre> : null}
        </li>
      ))}
    </ul>
  );
}

function NothingSent() {
  return (
    <Empty title="Nothing was sent to webhooks">
      <p>No webhook of this workspace wants the events of this email.</p>
    </Empty>
  );
}
