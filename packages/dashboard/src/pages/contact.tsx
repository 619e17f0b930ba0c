/** @jsxImportSource preact */
import type { ContactDetail } from "@mailsvc/sdk/contract";
import { CONTACT_TEXT_FIELDS, labelContactText } from "@mailsvc/sdk/contract/facts";
import type { ComponentChildren } from "preact";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ContactFields, readContact } from "../parts/audience/contact-form.tsx";
import { useGroups } from "../parts/audience/groups.ts";
import { nameOf, STATUS_WORDS } from "../parts/audience/words.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, query, setQuery, toHref } from "../router.tsx";
import { ContactEmails } from "./contact/emails.tsx";
import { Memberships } from "./contact/memberships.tsx";
import { PersonalData } from "./contact/personal-data.tsx";
import { SignUps } from "./contact/sign-ups.tsx";
import { StatusButton } from "./contact/status-button.tsx";
import { ContactTimeline, Why } from "./contact/timeline.tsx";

const TABS = [
  { name: "timeline", label: "Timeline" },
  { name: "emails", label: "Emails" },
  { name: "consent", label: "Consent" },
];

/** One person: what is known about them, what happened, and what mail they get. */
export default function ContactPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const contact = useResource((signal) => api.contacts.get(id, { signal }), [id]);
  const explanation = useResource((signal) => api.explanations.get(id, {}, { signal }), [id]);
  const groups = useGroups();
  const { data, error } = contact;
  const reload = (): void => {
    contact.reload();
    explanation.reload();
  };
  useEvents(({ contactId, to, type }) => contactId === id || to === data?.email || type.startsWith("suppression."), reload);
  const back = { href: toHref("/contacts"), name: "Contacts" };
  if (data === null)
    return (
      <Page title="Contact" back={back}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    );
  const chosen = query.value.get("tab") ?? "timeline";
  const { lists = [], segments = [] } = groups.data ?? {};
  const names = new Map([...lists, ...segments, ...data.lists, ...data.segments].map(({ id: one, name }) => [one, name]));
  return (
    <Page
      title={nameOf(data)}
      back={back}
      about={
        <>
          <Status status={data.status} text={STATUS_WORDS[data.status]} /> {nameOf(data) === data.email ? "" : data.email}
        </>
      }
      actions={may("contacts:write") ? <Actions contact={data} reload={reload} /> : null}
    >
      <div class="columns">
        <div class="column">
          <Tabs label="The person" tabs={TABS} chosen={chosen} choose={(tab) => setQuery({ tab: tab === "timeline" ? "" : tab })}>
            {chosen === "timeline" ? <ContactTimeline id={id} explanation={explanation} names={names} /> : null}
            {chosen === "emails" ? <ContactEmails email={data.email} /> : null}
            {chosen === "consent" ? <SignUps email={data.email} names={names} /> : null}
          </Tabs>
        </div>
        <aside class="column" aria-label="Details">
          <Why explanation={explanation} names={names} status={data.status} />
          <section class="card">
            <h2>Details</h2>
            <Facts facts={listFacts(data)} />
          </section>
          <Memberships contact={data} lists={lists} reload={reload} />
          {may("people:read") ? <PersonalData contact={data} /> : null}
        </aside>
      </div>
    </Page>
  );
}

function Actions({ contact, reload }: { readonly contact: ContactDetail; readonly reload: () => void }) {
  const change = async (values: FormValues): Promise<void> => {
    await api.contacts.update(
      contact.id,
      values.changes((from) => readContact(from, contact)),
    );
    toast("Saved");
    reload();
  };
  const remove = async (): Promise<void> => {
    await api.contacts.delete(contact.id);
    toast("Deleted");
    go("/contacts");
  };
  return (
    <>
      <StatusButton contact={contact} done={reload} />
      <FormButton label="Edit" title="Edit the contact" submit="Save" act={change}>
        <ContactFields contact={contact} />
      </FormButton>
      <ConfirmButton label="Delete" question={`Delete ${contact.email}?`} danger act={remove}>
        <p>
          Fields, tags and memberships go. A suppression of the address stays, and so do the mails that were sent. To delete everything
          about the person, erase them instead.
        </p>
      </ConfirmButton>
    </>
  );
}

function listFacts(contact: ContactDetail): (readonly [string, ComponentChildren])[] {
  const { email, externalId, tags, customFields, createdAt, updatedAt, id } = contact;
  return [
    ["Address", email],
    ["Your own id", externalId === null ? null : <code key="externalId">{externalId}</code>],
    ...CONTACT_TEXT_FIELDS.map((field) => [labelContactText(field), contact[field]] as const),
    [
      "Tags",
      tags.length === 0
        ? null
        : tags.map((tag) => (
            <a key={tag} class="tag" href={toHref(`/contacts?${new URLSearchParams({ tag })}`)}>
              {tag}
            </a>
          )),
    ],
    ...Object.entries(customFields).map(
      ([name, value]) => [name, typeof value === "string" ? value : <code key={name}>{JSON.stringify(value)}</code>] as const,
    ),
    [
      "Received",
      may("received:read") ? (
        <a key="received" href={toHref(`/received?${new URLSearchParams({ from: email })}`)}>
          Mail from this person
        </a>
      ) : null,
    ],
    ["Added", <Time key="added" at={createdAt} exactly />],
    ["Changed", updatedAt === createdAt ? null : <Time key="changed" at={updatedAt} exactly />],
    ["Id", <code key="id">{id}</code>],
  ];
}
