/** @jsxImportSource preact */
import { api } from "../../api/client.ts";
import { formatCount } from "../../parts/plural.ts";
import { nameSender } from "../../parts/received/words.ts";
import { useEvents, useResource } from "../../parts/resource.ts";
import { Time } from "../../parts/time.tsx";
import { toHref } from "../../router.tsx";

const SHOWN = 5;

/** The answers to an email; nothing before the first one. */
export function Replies({ id }: { readonly id: string }) {
  const { data, reload } = useResource((signal) => api.received.list({ email: id, limit: SHOWN }, { signal }), [id]);
  useEvents(({ type }) => type === "email.received", reload);
  if (data === null || data.data.length === 0) return null;
  const { total } = data.pagination;
  return (
    <section class="card" aria-label="Answers">
      <h2>Answers</h2>
      <ul class="items">
        {data.data.map((mail) => (
          <li key={mail.id}>
            <div class="what">
              <a href={toHref(`/received/${mail.id}`)}>{nameSender(mail)}</a>
              <Time at={mail.receivedAt} />
            </div>
            {mail.autoReply === null ? null : <span class="status">automatic</span>}
          </li>
        ))}
      </ul>
      {total > SHOWN ? <a href={toHref(`/received?email=${id}`)}>All {formatCount(total)} answers</a> : null}
    </section>
  );
}
