/** @jsxImportSource preact */
import type { TemplateDetail } from "@mailsvc/sdk/contract";
import { toHref } from "../../router.tsx";
import { Status } from "../status.tsx";
import { mayBeMore, type TemplateUser } from "./template-user.ts";

const NOT_SENDING = { status: null, startedAt: null };

/** All that uses a template: what it is a part of, and what sends it. */
export function listUsers({ templates, campaigns, automations }: TemplateDetail["usedBy"]): readonly TemplateUser[] {
  return [
    ...templates.map(({ id, name }) => ({ id, name, kind: "template" as const, href: toHref(`/templates/${id}`), ...NOT_SENDING })),
    ...campaigns.map(({ id, ...one }) => ({ id, ...one, kind: "campaign" as const, href: toHref(`/campaigns/${id}`) })),
    ...automations.map(({ id, ...one }) => ({
      id,
      ...NOT_SENDING,
      ...one,
      kind: "automation" as const,
      href: toHref(`/automations/${id}`),
    })),
  ];
}

/** The first of those who use a template, and how many more there are. */
export function UsedBy({ users }: { readonly users: readonly TemplateUser[] }) {
  const [first, ...others] = users;
  if (!first) return null;
  return (
    <>
      {" "}
      · used by <a href={first.href}>{first.name}</a>
      {others.length === 0 ? "" : ` and ${mayBeMore(users) ? "at least " : ""}${others.length} more`}
    </>
  );
}

/** Users of a template, each with its state. */
export function UserList({ users, most = users.length }: { readonly users: readonly TemplateUser[]; readonly most?: number }) {
  return (
    <ul class="items users">
      {users.slice(0, most).map(({ id, name, kind, href, status }) => (
        <li key={id}>
          <div class="what">
            <span>
              <a href={href}>{name}</a> <span class="soft">{kind}</span>
            </span>
            {status === null ? null : <Status status={status} />}
          </div>
        </li>
      ))}
      {users.length > most ? (
        <li class="soft">
          and {mayBeMore(users) ? "at least " : ""}
          {users.length - most} more
        </li>
      ) : null}
    </ul>
  );
}
