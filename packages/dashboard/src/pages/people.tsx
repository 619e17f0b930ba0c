/** @jsxImportSource preact */
import type { DashboardSession } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { may, session } from "../api/session.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { Page } from "../parts/page.tsx";
import { useList } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";

const ROLES = { owner: "Owner: everything", marketer: "Marketer: campaigns and contacts, no keys", viewer: "Viewer: only looks" } as const;
type Role = keyof typeof ROLES;

/** Page of the signed-in people, with sign-in links for others. */
export default function People() {
  const list = useList((cursor, signal) => api.dashboard.sessions({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  const end = async ({ id }: DashboardSession): Promise<void> => {
    await api.dashboard.signOut(id);
    toast("Signed out");
    list.refresh();
  };
  const endAll = async (): Promise<void> => {
    await api.dashboard.signOutAll();
    list.refresh();
  };
  const actions = may("keys:write") ? (
    <ConfirmButton label="Sign everybody out" question="Sign all browsers of this workspace out?" danger act={endAll}>
      <p>You are signed out, too. Links that were not used yet stop working.</p>
    </ConfirmButton>
  ) : null;
  return (
    <Page title="People signed in" about="Browsers with a session in this workspace." actions={actions}>
      <div class="scroll">
        {may("keys:write") ? <Invite /> : null}
        <ListStates
          list={list}
          empty={
            <Empty title="No open sessions">
              <p>On this machine, dev mode needs no session.</p>
            </Empty>
          }
        >
          <ul class="items card">
            {list.items.map((one) => (
              <li key={one.id}>
                <div class="what">
                  <span>
                    <strong>{one.user ?? "Browser"}</strong> <Status status={one.role} />
                    {one.id === session.value?.sessionId ? <span class="soft"> this browser</span> : null}
                  </span>
                  {may("keys:write") ? (
                    <ConfirmButton label="Sign out" question="Sign this browser out?" danger act={() => end(one)} />
                  ) : null}
                </div>
                <p class="soft">
                  Since <Time at={one.createdAt} />, last seen <Time at={one.lastSeenAt} />, by key <code>{one.keyId}</code>
                </p>
              </li>
            ))}
          </ul>
        </ListStates>
      </div>
    </Page>
  );
}

function Invite() {
  const [role, setRole] = useState<Role>("viewer");
  const [url, setUrl] = useState<string | null>(null);
  const [error, setError] = useState<RequestError | null>(null);
  // The link that is shown is for the role that is shown.
  const choose = (chosen: Role): void => {
    setRole(chosen);
    setUrl(null);
  };
  const make = async (): Promise<void> => {
    setError(null);
    try {
      setUrl((await api.dashboard.link({ role })).url);
    } catch (cause) {
      setError(asRequestError(cause));
    }
  };
  return (
    <section class="card">
      <h2>Let somebody in</h2>
      <p class="soft">The link works once, within 15 minutes. Send it to one person only.</p>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <label>
          <span class="hidden">Role</span>
          <select value={role} onChange={({ currentTarget }) => choose(currentTarget.value as Role)}>
            {Object.entries(ROLES).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Make a link</button>
      </form>
      {error === null ? null : <ErrorNote error={error} />}
      {url === null ? null : <CodeBlock code={url} label="The link" />}
    </section>
  );
}
