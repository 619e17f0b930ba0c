/** @jsxImportSource preact */
import type { DashboardSession, Member, Role, SignInWay } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may, session } from "../api/session.ts";
import { ROLES } from "../constants.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { count } from "../parts/plural.ts";
import { useList } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { query, setQuery } from "../router.tsx";

const WAYS: Readonly<Record<SignInWay, string>> = {
  link: "by a link",
  key: "by an API key",
  mail: "by a mailed link",
  proxy: "by the proxy",
  provider: "by single sign-on",
};

/** The people who may sign in, and the browsers in which they are. */
export default function People() {
  const tab = query.value.get("tab") === "sessions" ? "sessions" : "members";
  return (
    <Page title="People" about="Who may sign in to this workspace, and where they are signed in.">
      <div class="scroll">
        <Tabs
          label="People"
          tabs={[
            { name: "members", label: "Members" },
            { name: "sessions", label: "Signed in" },
          ]}
          chosen={tab}
          choose={(name) => setQuery({ tab: name === "members" ? "" : name })}
        >
          {tab === "sessions" ? <Sessions /> : <Members />}
        </Tabs>
      </div>
    </Page>
  );
}

function Members() {
  const list = useList((cursor, signal) => api.members.list({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  const mayChange = may("keys:write");
  const invite = async (values: FormValues): Promise<void> => {
    const email = values.text("email");
    await api.members.invite({ email, role: values.text("role") as Role, ...values.filled("name") });
    toast(`${email} is invited`);
    list.refresh();
  };
  return (
    <>
      {mayChange ? (
        <div class="buttons">
          <FormButton label="Invite somebody" title="Invite somebody" submit="Invite" primary act={invite}>
            <InvitationFields />
          </FormButton>
          <FormButton label="Make a link" title="Make a link without an invitation" submit="Done" act={async () => {}}>
            <MakeLink />
          </FormButton>
        </div>
      ) : null}
      <ListStates
        list={list}
        empty={
          <Empty title="Nobody is invited yet">
            <p>Members sign in with a link that we mail to them, or by single sign-on. Their names appear in histories.</p>
          </Empty>
        }
      >
        <ul class="items card">
          {list.items.map((one) => (
            <MemberItem key={one.id} member={one} mayChange={mayChange} changed={list.refresh} />
          ))}
        </ul>
      </ListStates>
    </>
  );
}

interface MemberProps {
  readonly member: Member;
  readonly mayChange: boolean;
  readonly changed: () => void;
}

function MemberItem({ member, mayChange, changed }: MemberProps) {
  const { id, email, name, role, invitedBy, createdAt, joinedAt, lastSignInAt, sessions } = member;
  const after = (done: string) => {
    toast(done);
    changed();
  };
  const setRole = async (values: FormValues): Promise<void> => {
    await api.members.setRole(id, { role: values.text("role") as Role });
    after("Changed");
  };
  const signOut = async (): Promise<void> => after(`Signed out of ${count((await api.members.signOut(id)).ended, "browser")}`);
  const remove = async (): Promise<void> => {
    await api.members.remove(id);
    after("Removed");
  };
  const again = async (): Promise<void> => {
    await api.members.invite({ email, role });
    after("Sent");
  };
  return (
    <li>
      <div class="what">
        <div>
          <span class="who">
            <strong>{name ?? email}</strong> <Status status={role} />
            {joinedAt === null ? <Status status="pending" text="invited" /> : null}
            {email === session.value?.email ? <span class="soft"> you</span> : null}
          </span>
          <p class="soft">
            {name === null ? null : `${email} · `}
            {joinedAt === null ? (
              <>
                Invited by {invitedBy} <Time at={createdAt} />
              </>
            ) : (
              <>
                Signed in last <Time at={lastSignInAt ?? joinedAt} />, now in {count(sessions, "browser")}
              </>
            )}
          </p>
        </div>
        {mayChange ? (
          <span class="buttons">
            {joinedAt === null ? <ConfirmButton label="Send again" question={`Mail another invitation to ${email}?`} act={again} /> : null}
            <FormButton label="Change role" title={`Role of ${name ?? email}`} submit="Change" act={setRole}>
              <RoleField chosen={role} />
            </FormButton>
            {sessions > 0 ? <ConfirmButton label="Sign out" question={`Sign ${name ?? email} out everywhere?`} act={signOut} /> : null}
            <ConfirmButton label="Remove" question={`Remove ${name ?? email} from this workspace?`} danger act={remove}>
              <p>They are signed out, and links that were mailed to them stop working. What they made stays.</p>
            </ConfirmButton>
          </span>
        ) : null}
      </div>
    </li>
  );
}

function InvitationFields() {
  return (
    <>
      <Field label="Email address" hint="They get a link that works once, within 24 hours.">
        <input type="email" name="email" required autocomplete="off" />
      </Field>
      <Field label="Name" hint="Optional. Colleagues see it in histories.">
        <input name="name" maxLength={100} autocomplete="off" />
      </Field>
      <RoleField chosen="viewer" />
    </>
  );
}

function RoleField({ chosen, choose }: { readonly chosen: Role; readonly choose?: (role: Role) => void }) {
  return (
    <Field label="Role">
      <select name="role" onChange={({ currentTarget }) => choose?.(currentTarget.value as Role)}>
        {Object.entries(ROLES).map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A link for one browser, for people without mail from this server. */
function MakeLink() {
  const [role, setRole] = useState<Role>("viewer");
  const [name, setName] = useState("");
  const [url, setUrl] = useState<string | null>(null);
  // The link that is shown is for the role and the name that are shown.
  const change = (act: () => void): void => {
    act();
    setUrl(null);
  };
  const make = async (): Promise<void> => {
    try {
      setUrl((await api.dashboard.link({ role, ...(name.trim() !== "" && { name: name.trim() }) })).url);
    } catch (cause) {
      toast((cause as Error).message, { bad: true });
    }
  };
  return (
    <>
      <p>The link works once, within 15 minutes. Send it to one person only.</p>
      <Field label="Name">
        <input
          value={name}
          maxLength={100}
          autocomplete="off"
          onInput={({ currentTarget }) => change(() => setName(currentTarget.value))}
        />
      </Field>
      <RoleField chosen={role} choose={(role) => change(() => setRole(role))} />
      <button type="button" onClick={() => void make()}>
        Make the link
      </button>
      {url === null ? null : <CodeBlock code={url} label="The link" />}
    </>
  );
}

function Sessions() {
  const list = useList((cursor, signal) => api.dashboard.sessions({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  const end = async ({ id }: DashboardSession): Promise<void> => {
    await api.dashboard.signOut(id);
    toast("Signed out");
    list.refresh();
  };
  const endPerson = async ({ id }: DashboardSession): Promise<void> => {
    toast(`Signed out of ${count((await api.dashboard.signOutPerson(id)).ended, "browser")}`);
    list.refresh();
  };
  const endAll = async (): Promise<void> => {
    await api.dashboard.signOutAll();
    list.refresh();
  };
  return (
    <>
      {may("keys:write") && list.items.length > 0 ? (
        <div class="buttons">
          <ConfirmButton label="Sign everybody out" question="Sign all browsers of this workspace out?" danger act={endAll}>
            <p>You are signed out, too. Links that were not used yet stop working.</p>
          </ConfirmButton>
        </div>
      ) : null}
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
                <div>
                  <span class="who">
                    <strong>{one.name ?? one.email ?? "Browser"}</strong> <Status status={one.role} />
                    {one.id === session.value?.sessionId ? <span class="soft"> this browser</span> : null}
                  </span>
                  <p class="soft">
                    {one.email !== null && one.name !== null ? `${one.email} · ` : null}
                    Signed in <Time at={one.createdAt} />, last seen <Time at={one.lastSeenAt} />, {WAYS[one.way]}
                    {one.memberId === null ? (
                      <>
                        {" · "}
                        <ObjectLink id={one.keyId} />
                      </>
                    ) : null}
                  </p>
                </div>
                {may("keys:write") ? (
                  <span class="buttons">
                    <ConfirmButton label="Sign out" question="Sign this browser out?" danger act={() => end(one)} />
                    <ConfirmButton label="Everywhere" question="Sign this person out of all browsers?" danger act={() => endPerson(one)} />
                  </span>
                ) : null}
              </div>
            </li>
          ))}
        </ul>
      </ListStates>
    </>
  );
}
