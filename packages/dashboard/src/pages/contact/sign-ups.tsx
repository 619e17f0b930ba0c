/** @jsxImportSource preact */

import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { useResource } from "../../parts/resource.ts";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";

interface Props {
  readonly email: string;
  readonly names: ReadonlyMap<string, string>;
}

/** Consents of a person: the texts of sign-up forms, and lists, confirmed or not. */
export function SignUps({ email, names }: Props) {
  const person = useResource(async (signal) => (may("people:read") ? api.people.get(email, {}, { signal }) : null), [email]);
  if (!may("people:read")) return <p class="soft">Your role does not show this.</p>;
  return (
    <Loaded from={person}>
      {(data) =>
        data === null || (data.signUps.length === 0 && data.lists.length === 0) ? (
          <Empty title="No consent is recorded">
            <p>Sign-ups on landing pages are kept here with the text that the person agreed to, and lists with when they were joined.</p>
          </Empty>
        ) : (
          <ul class="items card">
            {data.signUps.map(({ id, consentText, listId, createdAt }) => (
              <li key={id}>
                <div class="what">
                  <strong>Signed up on a landing page</strong>
                  <Time at={createdAt} exactly />
                </div>
                <p class="said">“{consentText}”</p>
                {listId === null ? null : (
                  <p class="soft">
                    For the list <ObjectLink id={listId} name={names.get(listId)} />
                  </p>
                )}
              </li>
            ))}
            {data.lists.map(({ id, name, status, addedAt, joinedAt }) => (
              <li key={id}>
                <div class="what">
                  <span>
                    List <ObjectLink id={id} name={name} />{" "}
                    {status === "PENDING" ? <Status status="pending" text="not confirmed" /> : <Status status="active" text="member" />}
                  </span>
                  <Time at={joinedAt ?? addedAt} exactly />
                </div>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
