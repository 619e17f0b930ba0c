/** @jsxImportSource preact */
import type { CapturedMail, CapturedMailDetail } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { inboxApi } from "../api/inbox.ts";
import { may, session } from "../api/session.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Empty, Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { MailView } from "../parts/mail-view.tsx";
import { Page } from "../parts/page.tsx";
import { type PagedList, useEvents, useList, useResource } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { UnreadMail } from "../parts/unread-mail.ts";
import { VirtualRows } from "../parts/virtual-rows.tsx";
import { go, type PageProps, query, toHref } from "../router.tsx";

/** The height of a row in `style/inbox.css`, px. */
const ROW = 72;
const FILTERS = ["text", "to", "tag", "workspace"];

/** Captured mail: in dev mode all mail, in production that of test keys. */
export default function Inbox({ params }: PageProps) {
  const id = params["id"] ?? null;
  const inbox = inboxApi();
  const filters = readFilters(FILTERS);
  const [unread] = useState(() => new UnreadMail(session.peek()?.workspace.id ?? ""));
  const list = useList(
    (cursor, signal) => inbox.list({ ...filters, limit: 100, ...(cursor && { cursor }) }, signal),
    [JSON.stringify(filters)],
  );
  // A mail is captured in the transaction in which its email is delivered.
  useEvents(({ type }) => type === "email.sent" || type === "email.delivered", list.refresh);
  const next = (by: number): void => {
    const at = list.items.findIndex((mail) => mail.id === id);
    const to = list.items[at < 0 ? 0 : Math.min(Math.max(at + by, 0), list.items.length - 1)];
    if (to) open(to.id, { replace: true });
  };
  useKeys({ j: () => next(1), k: () => next(-1) });
  useEffect(() => {
    if (id !== null) unread.markRead(id);
  }, [id, unread]);
  const clear = async (): Promise<void> => {
    const { deleted } = await inbox.clear();
    toast(deleted === 1 ? "1 mail deleted" : `${deleted} mails deleted`);
    open(null);
    list.refresh();
  };
  const remove = async (gone: string): Promise<void> => {
    const at = list.items.findIndex((mail) => mail.id === gone);
    await inbox.delete(gone);
    open(list.items[at + 1]?.id ?? null, { replace: true });
    list.refresh();
  };
  const { dev = false, workspaces = [] } = session.value ?? {};
  return (
    <Page
      title="Inbox"
      about={dev ? "Mail that was captured instead of sent." : "Mail of test keys, which was captured instead of sent."}
      actions={
        may("transactional:send") && list.items.length > 0 ? (
          <>
            <button type="button" onClick={() => unread.markAllRead(list.items)}>
              Mark all read
            </button>
            <ConfirmButton
              label="Delete all"
              question={dev ? "Delete all captured mail?" : "Delete all mail of test keys?"}
              danger
              act={clear}
            />
          </>
        ) : null
      }
    >
      <div class={id === null ? "split" : "split reading"}>
        <div class="list">
          <Filters
            fields={[
              { name: "text", label: "Search", example: "Search subjects, addresses and texts" },
              { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+$/ },
              { name: "tag", label: "Tag", example: "Tag: name=value", pattern: /^[^=]+=/ },
              ...(workspaces.length < 2
                ? []
                : [{ name: "workspace", label: "Workspace", options: workspaces.map(({ id: value, name: text }) => ({ value, text })) }]),
            ]}
          />
          <Mails list={list} chosen={id} unread={unread} filtered={Object.keys(filters).length > 0} />
        </div>
        <div class="reader">{id === null ? <Nothing list={list} /> : <Reader key={id} id={id} remove={remove} />}</div>
      </div>
    </Page>
  );
}

interface MailsProps {
  readonly list: PagedList<CapturedMail>;
  readonly chosen: string | null;
  readonly unread: UnreadMail;
  readonly filtered: boolean;
}

function Mails({ list, chosen, unread, filtered }: MailsProps) {
  const { items, more, total, isMinimum } = list;
  if (items.length === 0) {
    const empty = (
      <Empty title={filtered ? "Nothing found" : "No mail yet"}>
        {isMinimum ? <p>Only the newest mails were searched. Name a recipient or a tag to search older ones.</p> : null}
      </Empty>
    );
    return (
      <ListStates list={list} empty={empty}>
        {null}
      </ListStates>
    );
  }
  return (
    <VirtualRows
      {...{ items, more, total }}
      label="Captured mail"
      height={ROW}
      role="list"
      row={(mail) => (
        <div key={mail.id} role="listitem" class="mail-row">
          <a
            href={toInboxHref(mail.id)}
            aria-current={mail.id === chosen ? "true" : undefined}
            class={unread.isUnread(mail) ? "unread" : ""}
          >
            <span class="who">
              {unread.isUnread(mail) ? <span class="hidden">Unread: </span> : null}
              {mail.to}
            </span>
            <Time at={mail.receivedAt} />
            <span class="subject">{mail.subject || "(no subject)"}</span>
            <span class="from soft">{mail.from}</span>
          </a>
        </div>
      )}
    />
  );
}

function Nothing({ list }: { readonly list: PagedList<CapturedMail> }) {
  if (list.items.length > 0) return <Empty title="Choose a mail to read it" />;
  if (!session.value?.dev)
    return (
      <Empty title="Mail of test keys appears here the moment it is delivered">
        <p>Programs send it with a test key, and nobody gets it.</p>
        <CodeBlock
          label="A command that makes a test key"
          code="mailsvc keys create --name staging --test --permission transactional:send"
        />
      </Empty>
    );
  return (
    <Empty title="Mail appears here the moment it is delivered">
      <CodeBlock
        label="A command that sends an email"
        code={"mailsvc emails send --from hello@acme.example --to ada@example.com \\\n  --subject Hello --text 'It works.'"}
      />
    </Empty>
  );
}

function Reader({ id, remove }: { readonly id: string; readonly remove: (id: string) => Promise<void> }) {
  const inbox = inboxApi();
  const { data, error, reload } = useResource<CapturedMailDetail>((signal) => inbox.get(id, signal), [id]);
  if (data === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />;
  return (
    <article class="mail">
      <a class="back narrow" href={toInboxHref(null)}>
        ← Inbox
      </a>
      <div class="page-head">
        <h2>{data.subject || "(no subject)"}</h2>
        <div class="buttons">
          {data.emailId === null ? null : (
            <a class="button" href={toHref(`/activity/${data.emailId}`)}>
              What happened
            </a>
          )}
          {may("transactional:send") ? <Release mail={data} /> : null}
          {may("transactional:send") ? <ConfirmButton label="Delete" question="Delete this mail?" danger act={() => remove(id)} /> : null}
        </div>
      </div>
      <MailView mail={data} raw={(signal) => inbox.raw(id, signal)} />
    </article>
  );
}

function Release({ mail: { id } }: { readonly mail: CapturedMailDetail }) {
  const act = async (values: FormValues): Promise<void> => {
    const to = values
      .text("to")
      .split(/[\s,;]+/)
      .filter((one) => one !== "");
    const { released, failed } = await inboxApi().release(id, to);
    const [first] = failed;
    if (first) throw new Error(`${first.to}: ${first.message}`);
    toast(released.length === 1 ? `Sent to ${released[0]?.to}` : `Sent to ${released.length} addresses`);
  };
  return (
    <FormButton label="Release" title="Send this mail on to a real address" submit="Send it" act={act}>
      <Field label="Addresses" hint="At most 5, which the server must allow by --release-to.">
        <input name="to" required placeholder="you@example.com" autocomplete="email" spellcheck={false} />
      </Field>
    </FormButton>
  );
}

function open(id: string | null, options?: { readonly replace?: boolean }): void {
  go(toInboxPath(id), options);
}

function toInboxHref(id: string | null): string {
  return toHref(toInboxPath(id));
}

/** Another mail of the same search. */
function toInboxPath(id: string | null): string {
  const search = query.peek().toString();
  return `/inbox${id === null ? "" : `/${encodeURIComponent(id)}`}${search === "" ? "" : `?${search}`}`;
}

/** Calls a function when its key is pressed, unless a person types. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      keys[event.key]?.();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
