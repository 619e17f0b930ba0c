/** @jsxImportSource preact */
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Loaded } from "../loaded.tsx";
import { ObjectLink } from "../object-link.tsx";
import { readAll } from "../page-reader.ts";
import { useResource } from "../resource.ts";

/** Campaigns that are not over and segments that name a list or a segment, so that they lose people when it goes. */
export function NamedBy({ id }: { readonly id: string }) {
  const users = useResource((signal) => loadUsers(id, signal), [id]);
  return (
    <Loaded from={users}>
      {(all) =>
        all.length === 0 ? (
          <p>No campaign to be sent and no segment names it. Look through your automations, too.</p>
        ) : (
          <p>
            These reach nobody by it any more:{" "}
            {all.map((user, i) => (
              <span key={user.id}>
                {i === 0 ? "" : ", "}
                <ObjectLink id={user.id} name={user.name} />
              </span>
            ))}
          </p>
        )
      }
    </Loaded>
  );
}

const OVER: readonly string[] = ["SENT", "CANCELLED"];

async function loadUsers(id: string, signal: AbortSignal): Promise<{ readonly id: string; readonly name: string }[]> {
  const [campaigns, segments] = await Promise.all([
    may("campaigns:read") ? readAll((page) => api.campaigns.list(page, { signal })) : [],
    may("segments:read") ? readAll((page) => api.segments.list(page, { signal })) : [],
  ]);
  return [
    ...campaigns.filter(
      ({ status, listId, segmentId, include, exclude }) =>
        !OVER.includes(status) && [listId, segmentId, ...include, ...exclude].includes(id),
    ),
    ...segments.filter((segment) => segment.id !== id && JSON.stringify(segment.rules).includes(id)),
  ];
}
